/** The shell of pi: operations for its own bash tool, and an extension. pi is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Run, Tool } from '../shared/types.ts';
export { type PiApi, piExtension } from './extension.ts';
export { type PiCall, type PiOperations, piOperations } from './operations.ts';
