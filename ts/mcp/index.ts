/** The bash tool on an MCP server that one already has; the SDK is not imported at run time. */
export { registerBashTools } from './register.ts';
export type { McpServer } from './server.ts';
