/** The bash tool for an existing MCP server. The SDK is not imported at run time. */
export { type McpToolsOptions, registerBashTools } from './register.ts';
export type { McpServer } from './server.ts';
