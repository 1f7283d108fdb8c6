import { type BashToolInput, type BashToolOptions, type BashToolOutput, createBashTool } from 'agent-bash/ai';
import { whileConnected } from './connection.ts';
import { hasOwnFolder, startingIn } from './folder.ts';
import { Progress } from './progress.ts';
import { bashSchema, toolSchema } from './schema.ts';
import type { Tool, ToolAnswer, ToolCall } from './server.ts';

/** The tool `bash`: `createBashTool` with the client's first root as its directory. */
export function bashTool(options: BashToolOptions, folder: string): Tool {
  const elsewhere = hasOwnFolder(options);
  const { description } = createBashTool(elsewhere ? options : { ...options, cwd: folder });
  return {
    name: 'bash',
    config: {
      title: 'Run a bash command',
      description: options.description === undefined && !elsewhere ? withRoots(description, folder) : description,
      inputSchema: toolSchema(bashSchema(options)),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    answer: (input, call) => whileConnected(call, (signal) => run(input, { ...call, signal }, options, folder)),
  };
}

/** Replaces the tool's directory in the description: the client's roots are unknown when the tool is described. */
function withRoots(description: string, folder: string): string {
  return description.replace(/<pwd>.*<\/pwd>$/s, `<pwd>the first root of the client, else ${folder}</pwd>`);
}

async function run(
  input: BashToolInput,
  call: ToolCall,
  options: BashToolOptions,
  folder: string,
): Promise<ToolAnswer> {
  const rooted = await startingIn(options, call, folder);
  const progress = call.progressToken === undefined || options.updateIntervalMs === 0 ? null : new Progress(call);
  const tool = createBashTool({ ...rooted.options, ...(progress === null && { updateIntervalMs: 0 }) });
  let output: BashToolOutput | undefined;
  try {
    const { id, signal: abortSignal, context } = call;
    for await (const one of tool.execute(input, {
      toolCallId: `mcp-${id}`,
      abortSignal,
      experimental_context: context,
    })) {
      output = one;
      if (isSnapshot(one)) await progress?.tell(one);
    }
  } finally {
    progress?.end();
  }
  // There is always an output: the tool never throws and yields its output last.
  return answered(output as BashToolOutput, tool.toModelOutput({ output: output as BashToolOutput }), rooted.notes());
}

function isSnapshot(output: BashToolOutput): output is Extract<BashToolOutput, { status: 'running' }> {
  return 'status' in output && output.status === 'running';
}

function answered(output: BashToolOutput, read: { type: string; value: string }, notes: string[]): ToolAnswer {
  const isError = read.type === 'error-text';
  // A check has no notes, and a command that did not run has no directory.
  if (notes.length === 0 || !('notes' in output)) {
    return { content: [{ type: 'text', text: read.value }], structuredContent: { ...output }, isError };
  }
  const lines = notes.map((note) => `[${note}]`).join('\n');
  return {
    content: [{ type: 'text', text: `${read.value}${output.notes.length > 0 ? '\n' : '\n\n'}${lines}` }],
    structuredContent: { ...output, notes: [...output.notes, ...notes] },
    isError,
  };
}
