/** A host that claims a sandbox, prints its id and renews it until it is killed: `node claiming-host.mjs KUBECTL…`. */
import { agentSandboxes } from 'agent-bash/kubernetes';

const sandboxes = agentSandboxes({ warmPool: 'agents', program: process.argv.slice(2), leaseMs: 6_000 });
const place = await sandboxes.acquire({ affinity: null, signal: new AbortController().signal });
console.log(place.id);
setInterval(() => place.renew(Date.now() + 6_000), 2_000);
