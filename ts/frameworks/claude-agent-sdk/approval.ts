import { bash } from 'agent-bash';
import { createBashTool } from '../../ai/bash-tool.ts';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { PLAIN } from '../../core/option-names.ts';
import { checkOptionNames } from '../../tool/options.ts';
import { Approver, OF_APPROVALS } from '../shared/approver.ts';
import type { Approval } from '../shared/types.ts';
import { inputOf } from './input.ts';
import type { CanUseTool } from './types.ts';

/** The name under which Claude Code knows the server of `claudeShell`. */
export const SERVER = 'agent_bash';
/** The shell of Claude Code. */
export const BUILTIN = 'Bash';

/** Options of `claudeApproval`. */
export type ClaudeApprovalOptions = Approval & {
  /**
   * Decides about all other tools.
   *
   * @default none: other tools are denied
   * @example claudeApproval({ otherwise: async (_, input) => ({ behavior: 'allow', updatedInput: input }) });
   */
  otherwise?: CanUseTool | undefined;
};

/** The part of a question of the SDK that is read. */
interface Asking {
  signal: AbortSignal;
  toolUseID: string;
  mcpServer?: { name: string; source: string } | undefined;
}

/** A question of the SDK about a tool, and the answer. */
type CanUse = (name: string, input: Record<string, unknown>, asking: Asking) => Promise<unknown>;

/**
 * Makes a `canUseTool` that decides about commands by rules, for an agent with the shell of Claude Code, or with `bash`
 * on an in-process server `agent_bash` of your own. `claudeShell` has one already. A command that asks goes to `onAsk`.
 * A denial has the reason as its message. What safety denies is denied.
 *
 * Commands are judged as in the directory of this process, because the SDK does not say theirs. `updatedPermissions` is
 * never set: what Claude Code suggests would allow the whole tool. Other tools go to `otherwise`. Throws
 * `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example query({ prompt, options: { canUseTool: claudeApproval({ allow: ['read-only'], onAsk: askInTerminal }) } });
 */
export function claudeApproval(options: ClaudeApprovalOptions = {}): CanUseTool {
  checkOptionNames('claudeApproval', options, { ...OF_APPROVALS, otherwise: PLAIN });
  const { otherwise, ...approval } = options;
  const approver = new Approver(createBashTool(), approval);
  return canUse(approver, [BUILTIN, ofServer('bash')], otherwise);
}

/** Returns the name by which Claude Code calls a tool of `claudeShell`. */
export function ofServer(tool: string): string {
  return `mcp__${SERVER}__${tool}`;
}

/** Makes a `canUseTool` for these tools. */
export function canUse(
  approver: Pick<Approver, 'decide'>,
  tools: readonly string[],
  otherwise: CanUse | undefined,
): CanUse {
  checkFunctions(innerOf(bash), { otherwise });
  const others: CanUse = async (name) => denied(`nobody decides about the tool ${name} here`);
  return async (name, input, asking) => {
    if (!tools.includes(name) || !isOfHost(asking)) return await (otherwise ?? others)(name, input, asking);
    const call = inputOf(input);
    const allowed = { behavior: 'allow', updatedInput: input };
    if (typeof call.command !== 'string') return allowed;
    const { toolUseID: toolCallId, signal } = asking;
    const verdict = await approver.decide(call, { toolCallId, signal });
    return verdict.runs ? allowed : denied(verdict.reason);
  };
}

/** Returns whether a tool is of Claude Code itself, or of a server in this process: others may have the same name. */
function isOfHost({ mcpServer }: Asking): boolean {
  return mcpServer === undefined || mcpServer.source === 'sdk';
}

function denied(message: string) {
  return { behavior: 'deny', message };
}
