/** The bash tool for ai 6 and ai 7. Neither is imported at run time. */

export { formatCheck, formatResult } from '../tool/call/format.ts';
export { INTERCEPT_RULES } from '../tool/call/intercept.ts';
export { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from '../tool/instructions.ts';
export { createTerminalTool, TERMINAL_INSTRUCTIONS } from '../tool/terminal/tool.ts';
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
} from '../tool/terminal/types.ts';
export type {
  AccessRequest,
  BashApprovalCall,
  BashContextSchema,
  BashInputIssue,
  BashInputSchema,
  BashRunner,
  BashTool,
  BashToolAccess,
  BashToolCall,
  BashToolCheck,
  BashToolCommitted,
  BashToolContext,
  BashToolDrafted,
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolModelOutput,
  BashToolOptions,
  BashToolOutput,
  BashToolRecalled,
  BashToolResult,
  BashToolSnapshot,
  BashToolUndone,
  BashToolWait,
  Hooked,
  InterceptRule,
  RunnerFinished,
  SandboxCommand,
  SandboxCommandProcess,
  SuggestedTool,
  ToolCommandRunner,
  ToolSandbox,
  ToolSandboxSession,
} from '../tool/types.ts';
export { createToolApproval } from './approval.ts';
export { createBashTool } from './bash-tool.ts';
export { backgroundNotices } from './notices.ts';
export type {
  ApprovalAnswer,
  ApprovalInput,
  ApprovalOptions,
  ApprovalQuestion,
  AskPerson,
  BashApprovalJudgement,
  BashApprovalStatus,
  ToolApproval,
} from './types.ts';
