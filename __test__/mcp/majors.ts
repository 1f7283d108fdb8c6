import * as second from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type CallToolResult, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as SecondServer } from '@modelcontextprotocol/server';
import { type McpToolsOptions, registerBashTools } from 'agent-bash/mcp';
import { onTestFinished } from 'vitest';

export interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: Progress) => void;
}

/** A server with our tools and the SDK's own client, connected. */
export interface Connected {
  tools(): Promise<{ name: string; description?: string | undefined; inputSchema: unknown; annotations?: unknown }[]>;
  call(name: string, input?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface ClientOptions {
  /** The URIs that the client names; it has no roots without. A throw is its answer. */
  roots?: () => string[] | Promise<string[]>;
  /** Its name. */
  name?: string;
}

/** The text that the model reads. */
export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');
}

/** The two majors of the SDK, each with its own server and client, in one process. */
export const MAJORS = [
  {
    major: 1,
    async connect(options?: McpToolsOptions, { roots, name = 'client' }: ClientOptions = {}): Promise<Connected> {
      const server = new McpServer({ name: 'server', version: '1' });
      registerBashTools(server, options);
      const client = new Client({ name, version: '1' }, { capabilities: roots ? { roots: {} } : {} });
      if (roots) client.setRequestHandler(ListRootsRequestSchema, async () => named(await roots()));
      const [here, there] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(there), client.connect(here)]);
      onTestFinished(() => client.close());
      return {
        tools: async () => (await client.listTools()).tools,
        call: async (name, input, given) =>
          (await client.callTool({ name, ...(input && { arguments: input }) }, undefined, given)) as CallToolResult,
        close: () => client.close(),
      };
    },
  },
  {
    major: 2,
    async connect(options?: McpToolsOptions, { roots, name = 'client' }: ClientOptions = {}): Promise<Connected> {
      const server = new SecondServer({ name: 'server', version: '1' });
      registerBashTools(server, options);
      const client = new second.Client({ name, version: '1' }, { capabilities: roots ? { roots: {} } : {} });
      if (roots) client.setRequestHandler('roots/list', async () => named(await roots()));
      const [here, there] = second.InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(there), client.connect(here)]);
      onTestFinished(() => client.close());
      return {
        tools: async () => (await client.listTools()).tools,
        call: async (name, input, given) =>
          (await client.callTool({ name, ...(input && { arguments: input }) }, given)) as CallToolResult,
        close: () => client.close(),
      };
    },
  },
];

function named(uris: string[]): { roots: { uri: string }[] } {
  return { roots: uris.map((uri) => ({ uri })) };
}
