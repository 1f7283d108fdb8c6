/**
 * As much of an `McpServer` as is used: of `@modelcontextprotocol/sdk` from 1.23, and of `@modelcontextprotocol/server` 2.
 * What differs between them is `never` here, so that both fit.
 */
export interface McpServer {
  registerTool(name: string, config: never, handler: never): unknown;
  readonly server: {
    getClientCapabilities(): { roots?: unknown } | undefined;
    listRoots(params?: never, options?: never): Promise<{ roots: { uri: string }[] }>;
    readonly transport?: object | undefined;
  };
}

/** A tool, as both take it. */
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
}

/** What a tool answers with: `content` is what the model reads, `structuredContent` what programs do. */
export interface ToolAnswer {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError: boolean;
}

/** A tool in our own terms. */
export interface Tool {
  name: string;
  config: ToolConfig;
  /** Never rejects. */
  answer(input: Record<string, unknown>, call: ToolCall): Promise<ToolAnswer>;
}

export function addTool(server: McpServer, { name, config, answer }: Tool): void {
  const handler = (input: unknown, extra: CallContext) =>
    answer((input ?? {}) as Record<string, unknown>, readCall(server, extra));
  server.registerTool(name, config as never, handler as never);
}

/** One call of a tool. */
export interface ToolCall {
  id: string | number;
  /** Aborted when the client cancels the call. */
  signal: AbortSignal;
  /** What the client wants progress to be told with; `undefined` when it wants none. */
  progressToken: string | number | undefined;
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  /** What the SDK tells a handler of its call, as it is: for `perCall`. */
  context: unknown;
  server: McpServer;
}

/** What the first major says of a call. */
interface FirstContext {
  requestId: string | number;
  signal: AbortSignal;
  _meta?: { progressToken?: string | number };
  sendNotification: ToolCall['notify'];
}

/** What the second one says. */
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
