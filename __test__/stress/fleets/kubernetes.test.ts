import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bash, connect } from 'agent-bash';
import { agentSandboxes } from 'agent-bash/kubernetes';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { finished, packageRoot, rejection, state, timed, until } from '../../support/index.ts';
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

describe('an acquire that ends before its time', () => {
  nodeTest('deletes its claim when nobody waits for it any longer', async () => {
    node.stopControl();
    finished(() => node.control());
    const given = new AbortController();
    const acquired = rejection(() => provider().acquire(request(given.signal)));
    await until(async () => (await claims()).length === 1);
    given.abort();
    expect(await acquired).toMatchObject({ code: 'ABORT_ERR', message: expect.stringContaining('no controller') });
    expect(await claims()).toStrictEqual([]);
  });

  nodeTest('deletes its claim when the lease is over', async () => {
    node.stopControl();
    finished(() => node.control());
    const error = await rejection(() => provider({ leaseMs: 5_000 }).acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
    expect(await claims()).toStrictEqual([]);
  });

  nodeTest('tells that its warm pool is missing', async () => {
    const error = await rejection(() => provider({ warmPool: 'nowhere' }).acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'unreachable' });
    expect(error.message).toContain('SandboxWarmPool "nowhere" not found');
    expect(await claims()).toStrictEqual([]);
  });

  nodeTest('tells that its user has no right', async () => {
    const program = [...node.program, '--as=stranger'];
    const error = await rejection(() => agentSandboxes({ warmPool: 'agents', program }).acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'auth' });
    expect(error.message).toContain('User "stranger" cannot create resource "sandboxclaims"');
  });

  nodeTest('tells that its claim was deleted by somebody else', async () => {
    node.stopControl();
    finished(() => node.control());
    const acquired = rejection(() => provider().acquire(request()));
    await until(async () => (await claims()).length === 1);
    await node.kubectl('delete', 'sandboxclaims', '--all');
    expect(await acquired).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'lost' });
  });
});

describe('an API server that is restarted', () => {
  nodeTest('before the claim is created', async () => {
    const sandboxes = provider();
    await node.restart();
    const place = await sandboxes.acquire(request());
    await sandboxes.release(place.id, { broken: false });
  });

  nodeTest('while the claim waits, and before it is renewed and deleted', async () => {
    const sandboxes = provider({ warmPool: 'cold' });
    const acquired = sandboxes.acquire(request());
    await until(async () => (await claims()).length === 1);
    await node.restart();
    const place = await acquired;
    await node.restart();
    await place.renew?.(Date.now() + 60_000);
    await node.restart();
    await sandboxes.release(place.id, { broken: false });
  });
});

nodeTest('a kubelet that is killed cuts the link, and nothing runs twice', async () => {
  const sandboxes = provider();
  const place = await sandboxes.acquire(request());
  await using target = await connect({ ...place.address, name: place.id, aliveMs: 3_000 });
  let text = '';
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
  };
  const ran = bash('echo one | tee -a log; until [ -e go ]; do sleep 0.05; done; echo two | tee -a log; exit 9', {
    target,
    onOutput,
  });
  await until(() => text === 'one\n');
  const cut = state(target, 'disconnected');
  await node.restartKubelet();
  await cut;
  await bash('touch go', { target });
  expect(await ran).toMatchObject({ exitCode: 9, stdout: 'one\ntwo\n' });
  expect(await bash('cat log', { target })).toMatchObject({ stdout: 'one\ntwo\n' });
  await target.close();
  await sandboxes.release(place.id, { broken: false });
});

nodeTest('the claim of a host that was killed goes by itself', async () => {
  const sandboxes = provider();
  // The kubelet may have been killed just before, and the host waits for one lease only.
  const warm = await until(() => sandboxes.acquire(request()).catch(() => null), 'a warm pod', 60_000);
  await sandboxes.release(warm.id, { broken: false });
  const host = spawn(process.execPath, [join(import.meta.dirname, 'claiming-host.mjs'), ...node.program], {
    cwd: packageRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [id] = (await once(host.stdout, 'data')) as [Buffer];
  const name = id.toString().trim().split('/')[1] ?? '';
  const started = performance.now();
  // It is renewed past its lease.
  await until(() => performance.now() - started > 9_000);
  expect(await claims()).toContain(name);
  host.kill('SIGKILL');
  const [, time] = await timed(() => until(async () => !(await claims()).includes(name)));
  expect(time).toBeLessThan(9_000);
});

nodeTest('a cold claim takes about as long as by hand', async () => {
  const sandboxes = provider({ warmPool: 'cold' });
  const times = { ours: Number.POSITIVE_INFINITY, hand: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < 4; turn++) {
    const [place, ours] = await timed(() => sandboxes.acquire(request()));
    await sandboxes.release(place.id, { broken: false });
    await until(async () => (await claims()).length === 0);
    const [, hand] = await timed(() => byHand(`hand-${turn}`));
    await node.kubectl('delete', 'sandboxclaim', `hand-${turn}`);
    times.ours = Math.min(times.ours, ours);
    times.hand = Math.min(times.hand, hand);
  }
  const ratio = times.ours / times.hand;
  console.log(
    `a cold claim: ${Math.round(times.ours)} ms, by hand ${Math.round(times.hand)} ms, ratio ${ratio.toFixed(2)}`,
  );
  expect(ratio).toBeLessThan(1.1);
});

/** Claims a sandbox by kubectl alone. Resolves with the uid of its pod. */
async function byHand(name: string): Promise<string> {
  await node.apply({
    apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
    kind: 'SandboxClaim',
    metadata: { name, namespace: 'default' },
    spec: { warmPoolRef: { name: 'cold' } },
  });
  await node.kubectl('wait', '--for=condition=Ready', '--timeout=60s', `sandboxclaim/${name}`);
  const sandbox = await node.kubectl('get', 'sandboxclaim', name, '-o', 'jsonpath={.status.sandbox.name}');
  return node.kubectl('get', 'pod', sandbox, '-o', 'jsonpath={.metadata.uid}');
}

nodeTest(
  '50 claims at once through a rough proxy, with restarts of server and kubelet: none is left, none is shared',
  async () => {
    const seed = Number(process.env.AGENT_BASH_SEED ?? Date.now() % 1e6);
    console.log(`AGENT_BASH_SEED=${seed}`);
    provider();
    const rough = agentSandboxes({ warmPool: 'agents', program: await node.rough(seed), leaseMs: 300_000 });
    const all = Array.from({ length: 50 }, async () => {
      const place = await rough.acquire(request());
      const { uid } = (place.address as { kubernetes: { uid: string } }).kubernetes;
      await place.renew?.(Date.now() + 300_000);
      return { id: place.id, uid };
    });
    const at = async (counts: number[], restart: () => Promise<void>) => {
      for (const count of counts) {
        await until(async () => (await claims().catch(() => [])).length >= count, `${count} claims`, 200_000);
        await restart();
      }
    };
    const restarts = Promise.all([at([5, 25], () => node.restart()), at([12, 20], () => node.restartKubelet())]);
    const outcomes = await Promise.allSettled(all);
    await restarts;
    const places = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    console.log(
      `${places.length} claimed, ${errors.length} told`,
      errors.map(({ message }) => message),
    );
    expect(new Set(places.map(({ uid }) => uid)).size).toBe(places.length);
    for (const error of errors) expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: expect.any(String) });
    expect(places.length).toBeGreaterThan(25);
    const released = await Promise.allSettled(places.map(({ id }) => rough.release(id, { broken: false })));
    for (const one of released) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'ERR_BASH_TARGET' });
    }
    expect(released.filter(({ status }) => status === 'rejected')).toHaveLength(0);
  },
  600_000,
);
