// Not run: `tsc` over this file is the test.
import * as first from '@modelcontextprotocol/sdk/server/mcp.js';
import * as second from '@modelcontextprotocol/server';
import { type McpServer, type McpToolsOptions, registerBashTools } from 'agent-bash/mcp';

export function both() {
  registerBashTools(new first.McpServer({ name: 'first', version: '1' }));
  registerBashTools(new second.McpServer({ name: 'second', version: '1' }), { cwd: '/', timeoutMs: 60_000 });
  registerBashTools(new second.McpServer({ name: 'second', version: '1' }), { page: true } satisfies McpToolsOptions);
  // @ts-expect-error: not whether
  registerBashTools(new first.McpServer({ name: 'first', version: '1' }), { page: 'yes' });
  new first.McpServer({ name: 'first', version: '1' }) satisfies McpServer;
  new second.McpServer({ name: 'second', version: '1' }) satisfies McpServer;
  // @ts-expect-error: not a server
  registerBashTools({});
  // @ts-expect-error: not an option
  registerBashTools(new first.McpServer({ name: 'first', version: '1' }), { colour: 'red' });
}
