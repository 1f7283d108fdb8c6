/** The shell, the approval and the process of agents of the Claude Agent SDK. It is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Tool } from '../shared/types.ts';
export { type ClaudeApprovalOptions, claudeApproval } from './approval.ts';
export { type ClaudeShell, type ClaudeShellOptions, claudeShell, type SdkServer } from './shell.ts';
export { type ClaudeEnd, type ClaudeSpawnOptions, claudeSpawn } from './spawn.ts';
