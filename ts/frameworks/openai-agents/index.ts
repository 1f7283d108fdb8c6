/** The shell of sandbox agents in `@openai/agents`, and their approval. The package is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Run } from '../shared/types.ts';
export { agentsApproval } from './approval.ts';
export { type AgentsSandboxOptions, agentsSandbox } from './sandbox.ts';
