/** The shell of Mastra's workspaces, and the approval of its commands. Mastra is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Run } from '../shared/types.ts';
export { mastraApproval } from './approval.ts';
export { type MastraSandboxOptions, mastraSandbox } from './sandbox.ts';
