import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bash, connect } from 'agent-bash';
import { agentSandboxes } from 'agent-bash/kubernetes';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { finished, packageRoot, rejection, timed, until } from '../../support/index.ts';
import { KubernetesNode, nodeTest } from './kubernetes-node.ts';

const START_MS = 600_000;

let directory = '';
let node: KubernetesNode;

beforeAll(async () => {
  // A path of a socket may have no more than 107 bytes.
  directory = mkdtempSync('/tmp/agent-bash-node-');
  node = await KubernetesNode.start(directory, 2);
  await until(async () => (await ready()) === 2, 'the pool is warm', 120_000);
}, START_MS);

afterAll(async () => {
  await node?.end();
  rmSync(directory, { recursive: true, force: true });
}, START_MS);

/** How many sandboxes of the pool are ready. */
async function ready(): Promise<number> {
  const path = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  const text = await node.kubectl('get', 'sandboxes', '-l', 'agents.x-k8s.io/warm-pool-sandbox=agents', '-o', path);
  return text.split(' ').filter((status) => status === 'True').length;
}

const claims = () => node.names('sandboxclaims');

/** A provider of this node, whose claims the test leaves behind for nobody. */
function provider(options: { warmPool?: string; leaseMs?: number } = {}) {
  finished(() => until(async () => (await claims()).length === 0, 'no claim is left', 60_000).then(() => {}));
  return agentSandboxes({ warmPool: 'agents', program: node.program, ...options });
}

const request = (signal = new AbortController().signal) => ({ affinity: null, signal });

describe('a sandbox of a warm pool', () => {
  nodeTest('runs commands, is renewed and goes when it is released', async () => {
    const sandboxes = provider();
    const place = await sandboxes.acquire(request());
    expect(place.id).toMatch(/^sandbox:default\/agent-bash-[\da-f]{20}$/);
    expect(place.expiresAt).toBeGreaterThan(Date.now() + 500_000);
    const { pod = '' } = (place.address as { kubernetes: { pod: string } }).kubernetes;
    expect(place.address).toMatchObject({
      kubernetes: {
        uid: await node.kubectl('get', 'pod', pod, '-o', 'jsonpath={.metadata.uid}'),
        namespace: 'default',
        program: node.program,
      },
    });
    await using target = await connect({ ...place.address, name: place.id });
    expect(await bash('cat; exit 7', { target, stdin: 'in' })).toMatchObject({ stdout: 'in', exitCode: 7 });
    const end = Date.now() + 3_600_000;
    await place.renew?.(end);
    const [claim = ''] = await claims();
    const told = await node.kubectl('get', 'sandboxclaim', claim, '-o', 'json');
    const { spec, metadata } = JSON.parse(told);
    expect(Date.parse(spec.lifecycle.shutdownTime)).toBe(Math.floor(end / 1_000) * 1_000);
    expect(spec).toStrictEqual({
      warmPoolRef: { name: 'agents' },
      lifecycle: { shutdownPolicy: 'Delete', shutdownTime: expect.any(String) },
    });
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'agent-bash' });
    await target.close();
    await sandboxes.release(place.id, { broken: false });
    await until(async () => !(await node.names('pods')).includes(pod), 'the pod is gone', 30_000);
  });
});
