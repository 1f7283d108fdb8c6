// Not run: `tsc` over this file is the test.

import * as acp from '@agentclientprotocol/sdk';
import * as v2 from '@agentclientprotocol/sdk/experimental/v2';
import { type BackgroundTask, type BashResult, PtySession } from 'agent-bash';
import {
  type AcpAgentSession,
  acpAsk,
  acpRunner,
  acpTerminals,
  experimental_acpAgentTerminals,
  type OnAsk,
} from 'agent-bash/acp';
import { createBashTool } from 'agent-bash/ai';
import type { CommandRunner } from 'agent-bash/sandbox';

const terminals = acpTerminals(acp, {
  confine: 'workspace',
  approval: { ask: ['git push:*'], onAsk: ({ suggestRules }) => (suggestRules.length > 0 ? 'always' : false) },
  onAfterRun: ({ result }) => console.log(result.receipt),
});
const app = terminals.register(acp.client({ name: 'editor' }));
app satisfies acp.ClientApp;
app.onRequest('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
terminals.close('session') satisfies Promise<void>;
// @ts-expect-error an option that does not exist
acpTerminals(acp, { timeout: 5 });
// @ts-expect-error not the module
acpTerminals({});

const sessionId = 'session';
acp.agent().onRequest('session/prompt', async ({ params, client }) => {
  const runner = acpRunner(client, { sessionId: params.sessionId, onTerminal: (id, { cmd }) => console.log(id, cmd) });
  runner satisfies CommandRunner;
  createBashTool({ sandbox: runner });
  const onAsk = acpAsk(acp, client, { sessionId: params.sessionId });
  onAsk satisfies OnAsk;
  acpTerminals(acp, { approval: { ask: ['git push:*'], onAsk } });
  return { stopReason: 'end_turn' };
});
v2.agent().onConnect(({ client }) => {
  acpAsk(v2, client, { sessionId }) satisfies OnAsk;
});
declare const connection: acp.AgentConnection;
acpRunner(connection.client, { sessionId });
// @ts-expect-error the session is missing
acpRunner(connection.client, {});
// @ts-expect-error an option that does not exist
acpAsk(acp, connection.client, { sessionId, session: 'one' });
// @ts-expect-error a module without a version
acpAsk({}, connection.client, { sessionId });
// @ts-expect-error not a context of a client
acpRunner({}, { sessionId });

// Version 2.
const shown = experimental_acpAgentTerminals(v2, { confine: 'workspace', approval: { deny: ['git push:*'] } });
const agent = shown.register(v2.agent());
agent satisfies v2.AgentApp;
agent.onRequest('session/prompt', async ({ params, client, signal }) => {
  const session = shown.session(client, params.sessionId);
  session satisfies AcpAgentSession;
  const result = await session.run('npm test', { cwd: 'app', timeoutMs: 60_000, signal });
  result satisfies BashResult & { terminalId: string };
  const { task, terminalId } = await session.start('npm run dev', { cwd: 'app' });
  task satisfies BackgroundTask;
  await session.attach(new PtySession(), { command: 'top', cwd: '/', cols: 120, rows: 40 });
  const content: v2.ToolCallContent = { type: 'terminal', terminalId };
  await client.notify('session/update', {
    sessionId,
    update: { sessionUpdate: 'tool_call_update', toolCallId: 'one', content: [content] },
  });
  const background: v2.BackgroundWork[] = session.background();
  await client.notify('session/update', {
    sessionId,
    update: { sessionUpdate: 'state_update', state: 'running', background },
  });
  await session.close();
  return { messageId: 'one' };
});
declare const connection2: v2.AgentConnection;
shown.session(connection2.client, sessionId);
// @ts-expect-error the session is missing
shown.session(connection2.client);
// @ts-expect-error not a context of an agent
shown.session({}, sessionId);
// @ts-expect-error an option that does not exist
shown.session(connection2.client, sessionId).run('true', { timeout: 5 });
// @ts-expect-error a task has no limit of its call
shown.session(connection2.client, sessionId).start('true', { timeoutMs: 5 });
// @ts-expect-error the directory is missing
shown.session(connection2.client, sessionId).attach(new PtySession(), { command: 'top' });
// @ts-expect-error not the module
experimental_acpAgentTerminals({});
