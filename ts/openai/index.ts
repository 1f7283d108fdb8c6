/** The shells of OpenAI's Responses API, for ai 6 and ai 7 and for `@openai/agents`; none of them is imported. */
export type { ProviderSchema, ProviderTool } from '../provider/types.ts';
export { agentsShell } from './agents-shell.ts';
export { openaiLocalShell } from './local-shell.ts';
export { openaiShell } from './shell.ts';
export type {
  AgentsShell,
  LocalShellInput,
  LocalShellOutput,
  OpenaiLocalShellTool,
  OpenaiShellTool,
  ShellAction,
  ShellEntry,
  ShellInput,
  ShellOutput,
} from './types.ts';
