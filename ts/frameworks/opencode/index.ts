/** The shell of OpenCode, as a plugin. OpenCode is not imported at run time. */

export type { Answer, Approval, OnAsk, Question, Tool } from '../shared/types.ts';
export { opencodePlugin } from './plugin.ts';
