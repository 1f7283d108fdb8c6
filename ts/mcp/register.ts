import { resolve } from 'node:path';
import type { BashToolOptions } from 'agent-bash/ai';
import { checkIsObject } from '../ai/options-object.ts';
import { analyzeTool } from './analyze.ts';
import { bashTool } from './bash.ts';
import { addTool, type McpServer } from './server.ts';
import { tasksTool } from './tasks.ts';

/**
 * Puts three tools on an MCP server: `bash`, with the input and the options of `createBashTool`; `bash_tasks`, which lists what runs
 * in the background; and `bash_analyze`, which judges a `command` without running it. No SDK is imported: the server is an
 * `McpServer` of `@modelcontextprotocol/sdk` from 1.23, or of `@modelcontextprotocol/server` 2.
 *
 * `structuredContent` is the tool's output (`{ tasks }` for the list), the text what `formatResult` and `formatCheck` make of it.
 * `isError` says that nothing ran; with `errorOnFailure` also that the exit code is not 0. A client that asked for progress is told the
 * time in ms and the end of the output, every `updateIntervalMs` with new output and else every 5 s; never with 0. A command ends with
 * all it started when its call is cancelled, when the connection closes, and at its own limit. It starts in the first root of the client
 * that is a folder here; without one in `cwd`, default `process.cwd()`, resolved now; `perCall` and `session` go before both. `perCall` gets
 * what the SDK tells of a call as its `context`.
 *
 * Throws `ERR_BASH_INVALID_ARG` for options that `createBashTool` refuses, and what the server throws where it has a tool of such a name.
 */
export function registerBashTools(server: McpServer, options: BashToolOptions = {}): void {
  checkIsObject(options);
  const { cwd } = options;
  const folder = cwd === undefined || typeof cwd === 'string' ? resolve(cwd ?? '.') : cwd;
  for (const tool of [bashTool(options, folder), tasksTool(options), analyzeTool(options, folder)]) {
    addTool(server, tool);
  }
}
