/** The bash tool for ai 6 and ai 7; neither is imported at run time. */
export { formatResult } from './format.ts';
export { formatCheck } from './format-check.ts';
export { BASH_INSTRUCTIONS } from './instructions.ts';
export { backgroundNotices } from './notices.ts';
export { createBashTool } from './tool.ts';
export type {
  BashContextSchema,
  BashInputIssue,
  BashInputSchema,
  BashTool,
  BashToolCall,
  BashToolContext,
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolModelOutput,
  BashToolOptions,
  BashToolOutput,
  BashToolSnapshot,
  Hooked,
} from './types.ts';
