// Not run: `tsc` over this file is the test.

import { run } from '@openai/agents';
import { Manifest, SandboxAgent, type SandboxClient, shell } from '@openai/agents/sandbox';
import * as local from '@openai/agents/sandbox/local';
import { agentsApproval, agentsSandbox } from 'agent-bash/openai-agents';

const client = agentsSandbox(local, {
  local: { exposedPorts: [3000], workspaceBaseDir: '/srv' },
  confine: 'workspace',
  approval: { ask: ['git push:*'], onAsk: ({ suggestRules }) => (suggestRules.length > 0 ? 'always' : false) },
  onAfterRun: ({ result }) => console.log(result.receipt),
});
client.backendId satisfies 'agent_bash';
client satisfies SandboxClient;
client.create(new Manifest()) satisfies Promise<local.UnixLocalSandboxSession>;

const agent = new SandboxAgent({
  name: 'worker',
  capabilities: [shell({ configureTools: agentsApproval({ allow: ['npm test'], deny: ['curl:*'] }) })],
});
run(agent, 'go', { sandbox: { client } });

// @ts-expect-error an option that does not exist
agentsSandbox(local, { timeout: 5 });
// @ts-expect-error an option of the framework's client in another type
agentsSandbox(local, { local: { exposedPorts: '3000' } });
// @ts-expect-error the directory is the workspace
agentsSandbox(local, { cwd: '/srv' });
// @ts-expect-error not the module
agentsSandbox({});
