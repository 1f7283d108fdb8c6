/** The bash tool of Anthropic's API, for ai 6 and ai 7; the provider's package is not imported. */
export type { ProviderSchema, ProviderTool } from '../provider/types.ts';
export { anthropicBash } from './tool.ts';
export type { AnthropicBashInput, AnthropicBashOutput, AnthropicBashTool, AnthropicRestart } from './types.ts';
