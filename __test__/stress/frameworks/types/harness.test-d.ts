// Not run: `tsc` over this file is the test.

import type { HarnessV1, HarnessV1NetworkPolicy, HarnessV1SandboxProvider } from '@ai-sdk/harness';
import { HarnessAgent } from '@ai-sdk/harness/agent';
import { type HarnessV1NetworkPolicy as Accepted, harnessSandbox } from 'agent-bash/harness';
import type { Experimental_SandboxSession as SandboxSession } from 'ai';

declare const harness: HarnessV1;
declare const policy: HarnessV1NetworkPolicy;

policy satisfies Accepted;
const sandbox = harnessSandbox({ dir: '/srv/agents', ports: [4100], networkPolicy: policy, confine: 'workspace' });
sandbox satisfies HarnessV1SandboxProvider;
new HarnessAgent({ harness, sandbox });
(await sandbox.createSession()).restricted() satisfies SandboxSession;
await (await sandbox.createSession()).setNetworkPolicy?.({ mode: 'deny-all' });
// @ts-expect-error an option that does not exist
harnessSandbox({ folder: '/srv/agents' });
// @ts-expect-error an allow list that allows nothing
harnessSandbox({ networkPolicy: { mode: 'custom', deniedCIDRs: ['10.0.0.0/8'] } });
