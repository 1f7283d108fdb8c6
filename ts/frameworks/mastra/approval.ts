import { analyze, type BashOptions, decide } from 'agent-bash';
import { analysisOf } from '../../tool/call/judge.ts';
import { rulesOnly } from '../shared/approver.ts';
import type { Approval } from '../shared/types.ts';

/** What an approval knows of a sandbox of this entry. */
export interface Place {
  /** The options of a command with this directory. */
  optionsIn(cwd: string | undefined): BashOptions & { cwd: string };
  /** Runs what a person would be asked about: the approval has asked. */
  leaveAsking(): void;
  /** Refuses what these rules match. */
  forbid(rules: readonly string[]): void;
}

/** The sandboxes of this entry. */
export const PLACES = new WeakMap<object, Place>();

/**
 * Makes the `requireApproval` of the tool `execute_command`: a command that a rule or the analysis asks about waits
 * for `approveToolCall` or `declineToolCall`. A denied command asks nobody: the sandbox of `mastraSandbox` refuses it,
 * with the reason. Another sandbox cannot, so there Mastra asks about it.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for `onAsk`: Mastra has a question of
 * its own.
 *
 * @example const execute = { requireApproval: mastraApproval({ ask: ['git push:*'] }) };
 * new Workspace({ sandbox: mastraSandbox(), tools: { mastra_workspace_execute_command: execute } });
 */
export function mastraApproval(
  options: Approval = {},
): (context: { args: Record<string, unknown>; workspace?: object | undefined }) => boolean {
  const rules = rulesOnly('mastraApproval', options, 'the agent waits for approveToolCall');
  // Invalid rules are reported here, not at the first call.
  decide(analyze(':'), rules);
  return ({ args: { command, cwd }, workspace }) => {
    if (typeof command !== 'string') return true;
    const { sandbox } = Object(workspace) as { sandbox?: object };
    const place = sandbox && PLACES.get(sandbox);
    const folder = typeof cwd === 'string' ? cwd : undefined;
    const analysis = analysisOf(command, place?.optionsIn(folder) ?? { cwd: folder ?? '.' });
    const { verdict } = decide(analysis, rules);
    place?.leaveAsking();
    if (verdict !== 'deny') return verdict === 'ask';
    if (place === undefined) return true;
    place.forbid(rules.deny ?? []);
    // Without the engine, the sandbox refuses only what a rule denies.
    return analysis.verdict === 'deny' && place.optionsIn(folder).safety === 'off';
  };
}
