/**
 * The shells of OpenAI's Responses API, for ai 6, ai 7 and `@openai/agents`. This module imports none of these
 * packages.
 */
export type { LocalShellInput, ShellAction, ShellInput } from '../tool/provider.ts';
export type { ProviderSchema, ProviderTool } from '../tool/types.ts';
export { agentsShell } from './agents-shell.ts';
export { openaiLocalShell } from './local-shell.ts';
export { openaiShell } from './shell.ts';
export type {
  AgentsShell,
  LocalShellOutput,
  OpenaiLocalShellTool,
  OpenaiShellTool,
  ShellEntry,
  ShellOutput,
} from './types.ts';
