/** The shell of pi: operations for its own bash tool, and an extension. pi is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Run, Tool } from '../shared/types.ts';
export { piExtension } from './extension.ts';
export { piOperations } from './operations.ts';
