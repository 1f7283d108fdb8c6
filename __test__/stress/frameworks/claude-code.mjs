// In place of the command line of Claude Code: it speaks the control protocol of the SDK on its standard streams, and
// does the steps that the prompt lists as JSON. `result` has their answers. It needs no model and no network.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const waiting = new Map();
let setUp;
let interrupted = () => {};
let ids = 0;

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** Asks the SDK. */
function ask(request) {
  const request_id = randomUUID();
  send({ type: 'control_request', request_id, request });
  return new Promise((resolve) => waiting.set(request_id, resolve));
}

const mcp = async (server_name, message) =>
  (await ask({ subtype: 'mcp_message', server_name, message: { jsonrpc: '2.0', ...message } })).response.mcp_response;

async function connect(server) {
  const clientInfo = { name: 'claude-code', version: '2.1.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: { roots: {} }, clientInfo };
  await mcp(server, { id: ++ids, method: 'initialize', params });
  await mcp(server, { method: 'notifications/initialized' });
  return (await mcp(server, { id: ++ids, method: 'tools/list' })).result.tools;
}

/** Calls a tool, as a call of the model would: its name goes through the aliases, and a person is asked. */
async function call({ tool, input, asks = true, id = randomUUID(), source = 'sdk', progress }) {
  const name = setUp.toolAliases?.[tool] ?? tool;
  const [, server, own] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  let given = input;
  if (asks) {
    const mcp_server = server && source ? { name: server, source } : undefined;
    const suggestions = [{ type: 'addRules', rules: [{ toolName: name }], behavior: 'allow', destination: 'session' }];
    const { response, error } = await ask({
      subtype: 'can_use_tool',
      tool_name: name,
      input,
      tool_use_id: id,
      mcp_server,
      permission_suggestions: suggestions,
    });
    if (error) return { error };
    if (response.behavior === 'deny') return { denied: response.message, permission: response };
    given = response.updatedInput;
    if (response.updatedPermissions) return { error: 'updatedPermissions' };
  }
  if (server === undefined) return { ran: name };
  const request = ++ids;
  const _meta = { 'claudecode/toolUseId': id, ...(progress && { progressToken: request }) };
  const answer = mcp(server, { id: request, method: 'tools/call', params: { name: own, arguments: given, _meta } });
  const stopped = new Promise((resolve) => {
    interrupted = resolve;
  });
  const first = await Promise.race([answer, stopped.then(() => 'interrupted')]);
  if (first !== 'interrupted') return first.result ?? { error: first.error };
  await mcp(server, { method: 'notifications/cancelled', params: { requestId: request, reason: 'interrupted' } });
  return { interrupted: true };
}

const steps = {
  call,
  tools: async ({ server }) => connect(server),
  setUp: async () => ({ ...setUp, argv: process.argv.slice(2) }),
  env: async () => process.env,
  cwd: async () => process.cwd(),
  write: async ({ path, text = '' }) => {
    try {
      writeFileSync(path, text);
      return 'written';
    } catch ({ code }) {
      return code;
    }
  },
  stderr: async ({ text }) => void process.stderr.write(text),
  stdout: async ({ length }) => 'x'.repeat(length),
  child: async ({ path }) => {
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    child.unref();
    writeFileSync(path, String(child.pid));
  },
  hang: async ({ path }) => {
    if (path) writeFileSync(path, String(process.pid));
    await new Promise(() => setInterval(() => existsSync('/'), 1_000));
  },
  deaf: async () => void process.on('SIGTERM', () => {}),
  exit: async ({ code }) => process.exit(code),
  die: async ({ signal }) => {
    process.kill(process.pid, signal);
    await new Promise(() => setInterval(() => {}, 1_000));
  },
};

async function turn(prompt) {
  const done = [];
  for (const { step, ...given } of JSON.parse(prompt)) done.push((await steps[step](given)) ?? null);
  send({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: JSON.stringify(done),
    session_id: randomUUID(),
    uuid: randomUUID(),
    num_turns: 1,
    duration_ms: 1,
    duration_api_ms: 1,
    total_cost_usd: 0,
    usage: {},
    modelUsage: {},
    permission_denials: [],
  });
}

function textOf({ content }) {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'control_response') {
    const { request_id, response, error } = message.response;
    waiting.get(request_id)?.({ response, error });
  } else if (message.type === 'control_request') {
    const { request, request_id } = message;
    if (request.subtype === 'initialize') setUp = request;
    if (request.subtype === 'interrupt') interrupted();
    // A message of an in-process server, such as its progress.
    if (request.subtype === 'mcp_message' && process.env.PROGRESS_TO) {
      writeFileSync(process.env.PROGRESS_TO, `${JSON.stringify(request.message)}\n`, { flag: 'a' });
    }
    const response = request.subtype === 'initialize' ? { commands: [], models: [], agents: [], account: {} } : {};
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  } else if (message.type === 'user') {
    turn(textOf(message.message)).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(70);
    });
  }
}
process.exit(0);
