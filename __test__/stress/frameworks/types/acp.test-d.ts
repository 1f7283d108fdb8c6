// Not run: `tsc` over this file is the test.

import * as acp from '@agentclientprotocol/sdk';
import * as v2 from '@agentclientprotocol/sdk/experimental/v2';
import { acpAsk, acpRunner, acpTerminals, type OnAsk } from 'agent-bash/acp';
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
