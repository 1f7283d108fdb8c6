/** The bash tool for ai 6 and ai 7. Neither is imported at run time. */

export { formatResult } from '../tool/format/format.ts';
export { formatCheck } from '../tool/format/format-check.ts';
export type {
  RunnerFinished,
  SandboxCommand,
  SandboxCommandProcess,
  ToolCommandRunner,
  ToolSandbox,
  ToolSandboxSession,
} from '../tool/in-sandbox/types.ts';
export { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from '../tool/instructions.ts';
export { INTERCEPT_RULES } from '../tool/intercept/rules.ts';
export type { BashContextSchema, BashInputIssue, BashInputSchema, BashToolContext } from '../tool/schema-types.ts';
export { TERMINAL_INSTRUCTIONS } from '../tool/terminal/instructions.ts';
export { createTerminalTool } from '../tool/terminal/tool.ts';
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
  BashTool,
  BashToolAccess,
  BashToolCall,
  BashToolCheck,
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
  Hooked,
  InterceptRule,
  SuggestedTool,
} from '../tool/types.ts';
export { createToolApproval } from './approval.ts';
export { createBashTool } from './bash-tool.ts';
export { backgroundNotices } from './notices.ts';
export type {
  ApprovalInput,
  ApprovalOptions,
  BashApprovalJudgement,
  BashApprovalStatus,
  ToolApproval,
} from './types.ts';
