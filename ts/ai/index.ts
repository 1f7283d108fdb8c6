/** The bash tool for ai 6 and ai 7; neither is imported at run time. */
export { createToolApproval } from './approval.ts';
export { formatResult } from './format.ts';
export { formatCheck } from './format-check.ts';
export type {
  RunnerFinished,
  SandboxCommand,
  SandboxCommandProcess,
  ToolCommandRunner,
  ToolSandbox,
  ToolSandboxSession,
} from './in-sandbox/types.ts';
export { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from './instructions.ts';
export { INTERCEPT_RULES } from './intercept-rules.ts';
export { backgroundNotices } from './notices.ts';
export { TERMINAL_INSTRUCTIONS } from './terminal/instructions.ts';
export { createTerminalTool } from './terminal/tool.ts';
export type {
  TerminalEnd,
  TerminalInputSchema,
  TerminalList,
  TerminalReason,
  TerminalState,
  TerminalTool,
  TerminalToolInput,
  TerminalToolOutput,
  TerminalView,
} from './terminal/types.ts';
export { createBashTool } from './tool.ts';
export type {
  ApprovalInput,
  ApprovalOptions,
  BashApprovalCall,
  BashApprovalJudgement,
  BashApprovalStatus,
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
  InterceptRule,
  SuggestedTool,
  ToolApproval,
} from './types.ts';
