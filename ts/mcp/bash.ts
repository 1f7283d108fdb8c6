import {
  type ApprovalOptions,
  type BashTool,
  type BashToolInput,
  type BashToolOptions,
  type BashToolOutput,
  createBashTool,
  createToolApproval,
  type ToolApproval,
} from 'agent-bash/ai';
import { NOBODY, type WithoutPeople } from '../core/ledger.ts';
import { answered } from './answered.ts';
import { asBashTool } from './as-bash-tool.ts';
import { hasOwnFolder, startingIn } from './folder.ts';
import type { Progress } from './progress.ts';
import { bashSchema } from './schema.ts';
import type { Tool, ToolAnswer, ToolCall } from './server.ts';

/** The answer to a command that has to ask where no page is open. */
const NO_PAGE =
  'a person has to be asked about this command, and no page is open, or the command is too long to be shown there: ' +
  'nothing was run. The user can open a page with `agent-bash ui --control`; try again then, make it shorter, or leave ' +
  'it out';

/**
 * The tool `bash`: `createBashTool` with the client's first root as its directory. With `page`, a person is asked on
 * the page.
 */
export function bashTool(options: BashToolOptions, folder: string, page: boolean): Tool {
  const elsewhere = hasOwnFolder(options);
  const { description } = createBashTool(elsewhere ? options : { ...options, cwd: folder });
  const described = options.description === undefined && !elsewhere ? withRoots(description, folder) : description;
  const setting = { options, folder, page };
  const isQuiet = options.updateIntervalMs === 0;
  return asBashTool(described, bashSchema(options), (...call) => run(setting, ...call), isQuiet);
}

/** Replaces the tool's directory in the description: the client's roots are unknown when the tool is described. */
function withRoots(description: string, folder: string): string {
  return description.replace(/<pwd>.*<\/pwd>$/s, `<pwd>the first root of the client, else ${folder}</pwd>`);
}

async function run(
  { options, folder, page }: { options: BashToolOptions; folder: string; page: boolean },
  input: BashToolInput,
  call: ToolCall,
  progress: Progress | null,
): Promise<ToolAnswer> {
  const rooted = await startingIn(options, call, folder);
  const tool = createBashTool({ ...rooted.options, ...(progress === null && { updateIntervalMs: 0 }) });
  let output: BashToolOutput | undefined;
  const { id, signal: abortSignal, context } = call;
  const asked = { toolCallId: `mcp-${id}`, abortSignal, experimental_context: context };
  // The call of the tool below finds the decision by its id.
  if (page) await approvalOf(tool).needsApproval(input, asked);
  for await (const one of tool.execute(input, asked)) {
    output = one;
    if (isSnapshot(one)) await progress?.tell(one);
  }
  // There is always an output: the tool never throws and yields its output last.
  return answered(output as BashToolOutput, tool.toModelOutput({ output: output as BashToolOutput }), rooted.notes());
}

/** Returns the approval of a tool on the page, which refuses where nobody can be asked. */
function approvalOf(tool: BashTool): ToolApproval {
  const options: ApprovalOptions & WithoutPeople = { tool, page: true, confined: true, draft: true, [NOBODY]: NO_PAGE };
  return createToolApproval(options);
}

function isSnapshot(output: BashToolOutput): output is Extract<BashToolOutput, { status: 'running' }> {
  return 'status' in output && output.status === 'running';
}
