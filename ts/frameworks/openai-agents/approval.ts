import { rulesOnly } from '../shared/approver.ts';
import { Commands } from '../shared/commands.ts';
import type { Approval } from '../shared/types.ts';

/** The workspace as commands of a model name it. */
const WORKSPACE = '/workspace';

/** The input of `exec_command`. */
interface Input {
  cmd?: unknown;
  workdir?: string | null | undefined;
}

/** A tool of the framework, as far as it is used. */
interface FunctionTool {
  type?: unknown;
  name?: unknown;
  needsApproval(context: unknown, input: Input, callId?: string): Promise<boolean>;
  inputGuardrails?: unknown[];
}

/**
 * Makes the approval of sandbox agents: a command that a rule or the analysis asks about interrupts the run, and waits
 * for `state.approve()` or `state.reject()`. A denied command is refused, with the reason as the output of the tool.
 * Rules and analysis see the command as the model wrote it, with `/workspace` as its directory. Input of `write_stdin`
 * is not judged.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for `onAsk`: the framework has a
 * question of its own.
 *
 * @example shell({ configureTools: agentsApproval({ ask: ['git push:*'] }) });
 */
export function agentsApproval(options: Approval = {}): <T>(tools: T[]) => T[] {
  const commands = new Commands('agentsApproval', {
    approval: rulesOnly('agentsApproval', options, 'the run is interrupted, see interruptions'),
    cwd: WORKSPACE,
    inheritEnv: 'none',
    // The sandbox does not hear of an approval, and so would refuse the command all the same.
    safety: { rules: { 'git-blind-add': 'deny' } },
  });
  const judge = async (input: Input, toolCallId = '') =>
    typeof input?.cmd === 'string'
      ? await commands.judge(input.cmd, { cwd: input.workdir ?? undefined, toolCallId })
      : { verdict: 'allow', reason: '' };
  const guardrail = {
    type: 'tool_input',
    name: 'agent-bash',
    async run({ toolCall }: { toolCall: { arguments: string; callId: string } }) {
      const { verdict, reason } = await judge(inputOf(toolCall.arguments), toolCall.callId);
      return { behavior: verdict === 'deny' ? { type: 'rejectContent', message: reason } : { type: 'allow' } };
    },
  };
  const guarded = (tool: FunctionTool): FunctionTool => ({
    ...tool,
    inputGuardrails: [...(tool.inputGuardrails ?? []), guardrail],
    needsApproval: async (context, input, callId) =>
      (await tool.needsApproval(context, input, callId)) || (await judge(input, callId)).verdict === 'ask',
  });
  return (tools) => tools.map((tool) => (isShell(tool) ? (guarded(tool) as typeof tool) : tool));
}

function isShell(tool: unknown): tool is FunctionTool {
  const { type, name } = Object(tool) as FunctionTool;
  return type === 'function' && name === 'exec_command';
}

/** Reads the input of a call. The tool itself refuses one that cannot be read. */
function inputOf(text: string): Input {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
