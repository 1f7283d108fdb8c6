/**
 * The part of an `McpServer` that is used, of `@modelcontextprotocol/sdk` from 1.23 and of
 * `@modelcontextprotocol/server` 2. The type is `never` for the parts that differ, so that both fit.
 */
export interface McpServer {
  registerTool(name: string, config: never, handler: never): unknown;
  readonly server: {
    getClientCapabilities(): { roots?: unknown } | undefined;
    getClientVersion?(): { name: string } | undefined;
    listRoots(params?: never, options?: never): Promise<{ roots: { uri: string }[] }>;
    readonly transport?: object | undefined;
  };
}

/** A tool, as both majors accept it. */
export interface ToolConfig {
  title: string;
  description: string;
  inputSchema: object;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  /** What a client reads about the tool, besides its model. */
  _meta?: Record<string, unknown>;
}

/** The answer of a tool. The model reads `content`, programs read `structuredContent`. */
export interface ToolAnswer {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError: boolean;
}

/** The key of the data in an answer for a client that would show it to the model in place of the text. */
const RESULT = 'agent-bash/result';
/** Clients whose model reads `structuredContent` in place of `content`, and so no notices, folds and notes. */
const PREFERS_DATA = ['claude-code'];

/** A tool, independent of the SDK. */
export interface Tool {
  name: string;
  config: ToolConfig;
  /** Never rejects. */
  answer(input: Record<string, unknown>, call: ToolCall): Promise<ToolAnswer>;
}

/**
 * Registers a tool. `prefersData`: whether the client's model reads `structuredContent` in place of `content`.
 *
 * @param prefersData by default known by the client's name.
 */
export function addTool(server: McpServer, { name, config, answer }: Tool, prefersData?: boolean): void {
  const handler = (input: unknown, extra: CallContext) =>
    answer((input ?? {}) as Record<string, unknown>, readCall(server, extra)).then((given) =>
      (prefersData ?? isNamedSo(server)) ? withoutData(given) : given,
    );
  server.registerTool(name, config as never, handler as never);
}

function isNamedSo({ server }: McpServer): boolean {
  return PREFERS_DATA.includes(server.getClientVersion?.()?.name ?? '');
}

/** Moves the data of an answer out of the sight of a model that would read nothing else. */
function withoutData({ structuredContent, ...rest }: ToolAnswer) {
  return { ...rest, _meta: { [RESULT]: structuredContent } };
}

/** A call of a tool. */
export interface ToolCall {
  id: string | number;
  /** Aborts when the client cancels the call. */
  signal: AbortSignal;
  /** The token for progress messages, or `undefined` if the client wants none. */
  progressToken: string | number | undefined;
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  /** The SDK's information about the call, unchanged, for `perCall`. */
  context: unknown;
  server: McpServer;
}

/** The call's context in the first major. */
interface FirstContext {
  requestId: string | number;
  signal: AbortSignal;
  _meta?: { progressToken?: string | number };
  sendNotification: ToolCall['notify'];
}

/** The call's context in the second major. */
interface SecondContext {
  mcpReq: {
    id: string | number;
    signal: AbortSignal;
    _meta?: { progressToken?: string | number };
    notify: ToolCall['notify'];
  };
}

type CallContext = FirstContext | SecondContext;

function readCall(server: McpServer, context: CallContext): ToolCall {
  if ('mcpReq' in context) {
    const { id, signal, _meta, notify } = context.mcpReq;
    return { id, signal, progressToken: _meta?.progressToken, notify, context, server };
  }
  const { requestId: id, signal, _meta, sendNotification: notify } = context;
  return { id, signal, progressToken: _meta?.progressToken, notify, context, server };
}
