import { bash, OutputStore } from 'agent-bash';
import type { BashToolOptions } from 'agent-bash/ai';
import { innerOf } from '../core/inner.ts';
import { type OptionTableOf, PLAIN } from '../core/option-names.ts';
import { OWNER, type Owned } from '../core/world.ts';
import { checkToolOptions, SHARED_OUTPUTS, type Sharing } from '../tool/options.ts';
import { beginningOwner, ofOneConversation, toolFolder } from '../tool/setup.ts';
import { analyzeTool } from './analyze.ts';
import { bashTool } from './bash.ts';
import { addTool, type McpServer } from './server.ts';
import { tasksTool } from './tasks.ts';

/** Options of `registerBashTools`: those of `createBashTool`, and where a person is asked. */
export interface McpToolsOptions extends BashToolOptions {
  /**
   * Whether a person is asked on the page (`agent-bash ui --control`), for clients that cannot ask. A command that a
   * person would be asked about waits for the answer. Without an open page, or with more than 8 KiB, it is refused. An
   * approved command runs even with `safety.onAsk: 'deny'`. Effects that `confine` prevents are not asked about.
   *
   * @default false: such a command is refused, or runs with a note with `safety: { onAsk: 'allow' }`
   * @example registerBashTools(server, { page: true });
   */
  page?: boolean | undefined;
}

/** The options that `createBashTool` does not have. */
const OF_SERVERS: OptionTableOf<Omit<McpToolsOptions, keyof BashToolOptions>> = { page: PLAIN };

/**
 * Registers three tools on an MCP server: `bash` has the input and the options of `createBashTool`, `bash_tasks` lists
 * background tasks, and `bash_analyze` judges a `command` without running it. No SDK is imported. The server
 * is an `McpServer` of `@modelcontextprotocol/sdk` from 1.23, or of `@modelcontextprotocol/server` 2.
 *
 * `structuredContent` is the tool's output (`{ tasks }` for the list). A client named `claude-code` has it in
 * `_meta['agent-bash/result']`, because it would show the model the data in place of the text. The text is what
 * `toModelOutput` of the tool returns, with repeats folded unless `reduce` is `'off'`. All calls share one store of
 * outputs, so with `'salient'` a model can recall lines of an earlier one. `isError` means that nothing ran; with
 * `errorOnFailure` also that the exit code is not 0. A client that asked for progress receives the time in ms and the
 * last part of the output, every `updateIntervalMs` while there is new output and otherwise every 5 s; with
 * `updateIntervalMs` 0 it receives none. A command ends with all it started when its call is cancelled, when the
 * connection closes, and at its own limit. It starts in the client's first root that is a directory here, or else in
 * `cwd`, which is resolved now and defaults to `process.cwd()`. `perCall` and `session` take precedence over both.
 * `perCall` receives the SDK's information about a call as its `context`.
 *
 * Throws `ERR_BASH_INVALID_ARG` for options that `createBashTool` refuses, and the server's error if it already has a
 * tool with such a name.
 */
export function registerBashTools(server: McpServer, given: McpToolsOptions = {}): void {
  checkToolOptions('registerBashTools', given, OF_SERVERS);
  const { page = false, ...rest } = given;
  if (typeof page !== 'boolean') throw innerOf(bash).invalid('page', page, 'a boolean');
  if (typeof server?.registerTool !== 'function') {
    throw innerOf(bash).invalid('server', server, 'an McpServer of the MCP SDK');
  }
  const options = ofOneConversation(rest);
  const folder = toolFolder(options);
  // Each call has a tool of its own; their commands share the worlds and the outputs.
  const owned: BashToolOptions & Owned & Sharing = {
    ...options,
    [OWNER]: beginningOwner(options, folder),
    [SHARED_OUTPUTS]: new OutputStore(),
  };
  // A page that is open finds this process before its first command.
  if (page) innerOf(bash).listen();
  for (const tool of [bashTool(owned, folder, page), tasksTool(owned), analyzeTool(owned, folder)]) {
    addTool(server, tool);
  }
}
