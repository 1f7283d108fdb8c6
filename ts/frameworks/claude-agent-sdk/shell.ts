import { bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { PLAIN } from '../../core/option-names.ts';
import { answered } from '../../mcp/answered.ts';
import { asBashTool } from '../../mcp/as-bash-tool.ts';
import { addTool, type McpServer, type Tool as McpTool } from '../../mcp/server.ts';
import { tasksTool } from '../../mcp/tasks.ts';
import { nothingRan } from '../../tool/call/judge.ts';
import { checkObject } from '../../tool/options.ts';
import type { BashToolInput } from '../../tool/types.ts';
import { needs } from '../shared/needs.ts';
import { ToolCalls } from '../shared/tool-calls.ts';
import type { Tool } from '../shared/types.ts';
import { BUILTIN, canUse, ofServer, SERVER } from './approval.ts';
import { inputOf } from './input.ts';
import type { CanUseTool } from './types.ts';

/** Options of `claudeShell`. */
export type ClaudeShellOptions = Tool & {
  /**
   * What becomes of the `Bash` of Claude Code. `'replace'` takes it from the model, which reads our description.
   * `'alias'` leaves its description, and its limit of 120 s. In both cases a call of `Bash` runs here.
   *
   * @default 'replace'
   * @example claudeShell(createSdkMcpServer, { builtin: 'alias' });
   */
  builtin?: 'replace' | 'alias' | undefined;
  /**
   * Decides about all other tools.
   *
   * @default none: other tools of which Claude Code asks are denied
   * @example claudeShell(createSdkMcpServer, { otherwise: askInTerminal });
   */
  otherwise?: CanUseTool | undefined;
};

/** An in-process server of the SDK, as far as it is used. */
export interface SdkServer {
  type: 'sdk';
  name: string;
  instance: McpServer;
}

/** A shell for agents. */
export interface ClaudeShell<Server> {
  /** The in-process MCP server `agent_bash`, with the tools `bash` and `bash_tasks`. */
  server: Server;
  /**
   * The options for `query()`.
   *
   * @example query({ prompt, options: { ...shell.options } });
   */
  options: {
    mcpServers: { [SERVER]: Server };
    toolAliases: Record<string, string>;
    disallowedTools?: string[];
    canUseTool: CanUseTool;
  };
  /** Ends all that runs, all tasks without a `registry` of yours, and all that commands have left running. */
  close(): Promise<void>;
}

/** The limit that Claude Code's description gives, in ms. */
const LIMIT_MS = 120_000;
/** Keeps a tool in the prompt: Claude Code leaves other MCP tools to its search. */
const ALWAYS = { 'anthropic/alwaysLoad': true };
const TOOL_USE_ID = 'claudecode/toolUseId';

/**
 * Makes the shell of an agent of the Claude Agent SDK: an in-process server with `bash` and `bash_tasks`, to which
 * calls of `Bash` are led, too. The model reads the text of the result, and programs find the `BashResult` in
 * `_meta['agent-bash/result']`. `isError` means that nothing ran. Rules of `approval` decide in `canUseTool`, and at
 * the call itself if Claude Code has not asked.
 *
 * Commands start in `cwd`: give it the value of the `cwd` for `query()`. A shell serves one query at a time. Without
 * `registry` it has one of its own, and commands end at their limit. Throws `ERR_BASH_UNSUPPORTED` if
 * `createSdkMcpServer` is not a function, and `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const shell = claudeShell(createSdkMcpServer, { cwd, confine: 'workspace' });
 * @param createSdkMcpServer that of `@anthropic-ai/claude-agent-sdk`, from 0.3.
 */
export function claudeShell<Server extends SdkServer>(
  createSdkMcpServer: (options: { name: string; version: string; tools: never[] }) => Server,
  given: ClaudeShellOptions = {},
): ClaudeShell<Server> {
  const sdk = { name: '@anthropic-ai/claude-agent-sdk', lowest: '0.3.0' };
  needs('createSdkMcpServer', createSdkMcpServer, [''], sdk);
  checkObject(given);
  const { builtin = 'replace', otherwise, ...options } = given;
  if (builtin !== 'replace' && builtin !== 'alias') {
    throw innerOf(bash).invalid('builtin', builtin, '"replace" or "alias"');
  }
  const calls = new ToolCalls('claudeShell', options, { builtin: PLAIN, otherwise: PLAIN });
  const tools = [bashTool(calls, options, builtin), tasksTool({ ...options, registry: calls.registry })];
  const names = tools.map(({ name }) => ofServer(name));
  const canUseTool = canUse(calls, names, otherwise);
  const server = createSdkMcpServer({ name: SERVER, version: '1.0.0', tools: [] });
  needs('createSdkMcpServer()', server, ['instance.registerTool'], sdk);
  for (const tool of tools) addTool(server.instance, { ...tool, config: { ...tool.config, _meta: ALWAYS } }, true);
  return {
    server,
    options: {
      mcpServers: { [SERVER]: server },
      toolAliases: { [BUILTIN]: ofServer('bash') },
      ...(builtin === 'replace' && { disallowedTools: [BUILTIN] }),
      canUseTool,
    },
    close: () => calls.close(),
  };
}

function bashTool(calls: ToolCalls, options: Tool, builtin: 'replace' | 'alias'): McpTool {
  const hasLimit = builtin === 'replace' || options.timeoutMs !== undefined || options.mode !== undefined;
  const limited = (input: BashToolInput): BashToolInput =>
    hasLimit || input.mode != null || input.command == null ? input : { timeout_ms: LIMIT_MS, ...input };
  return asBashTool(calls.tool.description, calls.schema, async (given, { context, signal }, progress) => {
    try {
      const { output, text, failed } = await calls.answer(limited(inputOf(given)), {
        toolCallId: toolUseIdOf(context),
        signal,
        context,
        onSnapshot: (snapshot) => progress?.tell(snapshot),
      });
      return answered(output, { type: failed ? 'error-text' : 'text', value: text }, []);
    } catch (error) {
      const output = nothingRan(error, 'ERR_BASH_INVALID_ARG');
      return answered(output, { type: 'error-text', value: messageOf(error) }, []);
    }
  });
}

/** Returns Claude Code's id of a call, which its question had as well; `''` if there is none. */
function toolUseIdOf(context: unknown): string {
  const { _meta, mcpReq } = Object(context);
  const id = Object(_meta ?? mcpReq?._meta)[TOOL_USE_ID];
  return typeof id === 'string' ? id : '';
}
