/** The bash tool of Anthropic's API, for ai 6 and ai 7. The provider's package is not imported. */
export type { AnthropicBashInput } from '../tool/provider.ts';
export type { ProviderSchema, ProviderTool } from '../tool/types.ts';
export { anthropicBash } from './tool.ts';
export type { AnthropicBashOutput, AnthropicBashTool, AnthropicRestart } from './types.ts';
