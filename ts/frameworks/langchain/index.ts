/** The bash tool for LangChain, and the shell of deepagents' backend. Neither is imported at run time. */

export type { Answer, Approval, OnAsk, Question, Run, Tool } from '../shared/types.ts';
export { deepAgentsBackend } from './backend.ts';
export { langchainBash } from './tool.ts';
