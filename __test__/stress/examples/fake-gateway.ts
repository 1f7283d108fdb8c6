import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request to the gateway. */
export interface GatewayRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: {
    prompt: { role: string; content: string | { type: string; text?: string; output?: { value?: string } }[] }[];
    tools: { type: string; name: string; description: string; inputSchema: { properties: Record<string, unknown> } }[];
  };
}

/** One answer of the model behind the gateway. */
export interface Answer {
  say: string;
  /** Inputs of calls of the tool `bash`. */
  calls?: object[];
}

/**
 * The AI Gateway's protocol, as `ai` 6 uses it, on this machine. Each request is answered with the parts of a stream,
 * one event each. `answer` receives the number of the request, from 0. An Error is answered as the gateway does.
 */
export async function fakeGateway(answer: (index: number, request: GatewayRequest) => Answer | Error) {
  const requests: GatewayRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = {
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    };
    const index = requests.push(request) - 1;
    const given = answer(index, request);
    if (given instanceof Error) {
      outgoing.writeHead(401, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { message: given.message, type: 'authentication_error' } }));
      return;
    }
    const { say, calls = [] } = given;
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (part: object) => outgoing.write(`data: ${JSON.stringify(part)}\n\n`);
    send({ type: 'stream-start', warnings: [] });
    send({ type: 'text-start', id: '0' });
    for (const delta of say.match(/\S+\s*/g) ?? []) send({ type: 'text-delta', id: '0', delta });
    send({ type: 'text-end', id: '0' });
    calls.forEach((input, at) => {
      const toolCallId = `gateway-${index}-${at}`;
      send({ type: 'tool-call', toolCallId, toolName: 'bash', input: JSON.stringify(input) });
    });
    send({
      type: 'finish',
      finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    });
    outgoing.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const env = {
    AI_GATEWAY_BASE_URL: `http://127.0.0.1:${port}/v3/ai`,
    AI_GATEWAY_API_KEY: 'the-key-of-the-test',
    AGENT_BASH_MODEL: 'maker/model-1',
  };
  return { env, requests };
}
