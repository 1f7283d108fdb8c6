import { mkdtempSync, rmSync } from 'node:fs';
import { bash, connect } from 'agent-bash';
import { agentSandboxes } from 'agent-bash/kubernetes';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import {
  finished,
  type Host,
  host,
  kill,
  mark,
  rejection,
  sleepers,
  state,
  timed,
  until,
} from '../../support/index.ts';
import { KubernetesNode, nodeTest } from './kubernetes-node.ts';

const START_MS = 600_000;
/** Sandboxes that are kept warm. */
const REPLICAS = 2;
/** The shortest lease that there is. */
const LEASE_MS = 5_000;
/** The label of sandboxes that are warm. */
const WARM = 'agents.x-k8s.io/warm-pool-sandbox';

let directory = '';
let node: KubernetesNode;

beforeAll(async () => {
  // A path of a socket may have no more than 107 bytes.
  directory = mkdtempSync('/tmp/agent-bash-node-');
  node = await KubernetesNode.start(directory, REPLICAS);
  await until(async () => (await ready()) === REPLICAS, 'the pool is warm', 120_000);
}, START_MS);

afterAll(async () => {
  await node?.end();
  rmSync(directory, { recursive: true, force: true });
}, START_MS);

/** How many sandboxes of the pool are ready. */
async function ready(): Promise<number> {
  const path = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  const text = await node.kubectl('get', 'sandboxes', '-l', `${WARM}=agents`, '-o', path);
  return text.split(' ').filter((status) => status === 'True').length;
}

const claims = () => node.names('sandboxclaims');

/** The names of claims, sandboxes and pods, without those that are warm. A warm sandbox has the name of its pod. */
async function left(): Promise<string[]> {
  const text = await node.kubectl('get', 'sandboxclaims,sandboxes,pods', '-o', 'json');
  const { items } = JSON.parse(text) as { items: { metadata: { name: string; labels?: Record<string, string> } }[] };
  const warm = items.filter(({ metadata }) => metadata.labels?.[WARM]).map(({ metadata }) => metadata.name);
  return items.map(({ metadata }) => metadata.name).filter((name) => !warm.includes(name));
}

/** A provider of this node, of whose claims and pods the test leaves none behind. */
function provider(options: { warmPool?: string; leaseMs?: number } = {}) {
  finished(() => until(async () => (await left()).length === 0, 'nothing is left', 60_000).then(() => {}));
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
  provider();
  const running = poolHost(mark());
  const [, name = ''] = await running.says(/^has \S+\/(\S+)\n(?:renews\n)*runs$/m, 60_000);
  const started = performance.now();
  // It is renewed past its lease.
  await until(() => performance.now() - started > 9_000);
  expect(await claims()).toContain(name);
  kill(running.pid, 'SIGKILL');
  const [, time] = await timed(() => until(async () => !(await claims()).includes(name)));
  expect(time).toBeLessThan(9_000);
});

/**
 * Starts a host with a pool of one sandbox, in which two commands sleep for this time. SIGTERM closes its pool. It
 * prints a line when it begins to acquire, has, renews and releases the sandbox, and when a command runs.
 */
function poolHost(seconds: string): Host {
  const options = { warmPool: 'agents', program: node.program, leaseMs: LEASE_MS };
  return host(`
    import { TargetPool } from 'agent-bash';
    import { agentSandboxes } from 'agent-bash/kubernetes';
    const sandboxes = agentSandboxes(${JSON.stringify(options)});
    const provider = {
      async acquire(request) {
        console.log('acquires');
        const place = await sandboxes.acquire(request);
        console.log('has ' + place.id);
        const renew = (until) => {
          console.log('renews');
          return place.renew(until);
        };
        return { ...place, renew };
      },
      release(...args) {
        console.log('releases');
        return sandboxes.release(...args);
      },
    };
    const target = new TargetPool({ provider, max: 1 });
    process.once('SIGTERM', () => target.close());
    const onOutput = ({ text }) => process.stdout.write(text);
    const run = () => bash('echo runs; setsid sleep ${seconds} & sleep ${seconds}', { target, onOutput });
    await Promise.all([run(), run()]);`);
}

/** Parts of the life of a host, and at how many moments, this many ms apart, it is killed after their beginning. */
const PARTS = [
  { name: 'start', begins: /^/, count: 10, step: 50 },
  { name: 'claim', begins: /^acquires$/m, count: 25, step: 60 },
  { name: 'install', begins: /^has /m, count: 20, step: 60 },
  { name: 'command', begins: /^runs$/m, count: 10, step: 100 },
  { name: 'renewal', begins: /^runs$[\s\S]*^renews$/m, count: 15, step: 30 },
  { name: 'close', begins: /^runs$/m, closes: true, count: 20, step: 60 },
];

nodeTest(
  'a host that is killed at 100 moments leaves no claim and no pod after its lease',
  async () => {
    const hosts = 4;
    await node.resize('agents', hosts);
    finished(() => node.resize('agents', REPLICAS));
    const moments = PARTS.flatMap(({ count, step, ...part }) =>
      Array.from({ length: count }, (_, index) => ({ ...part, ms: index * step })),
    );
    const said: string[] = [];
    let [behind, longest] = [0, 0];
    for (let first = 0; first < moments.length; first += hosts) {
      const seconds = mark();
      const killed = moments.slice(first, first + hosts).map(async ({ begins, closes, ms }) => {
        const running = poolHost(seconds);
        await running.says(begins, 60_000);
        if (closes) kill(running.pid, 'SIGTERM');
        await new Promise((resolve) => setTimeout(resolve, ms));
        kill(running.pid, 'SIGKILL');
        await running.ended();
        said.push(running.stdout());
      });
      await Promise.all(killed);
      behind += (await claims()).length;
      const nothing = async () => sleepers(seconds).length === 0 && (await left()).length === 0;
      const { name, ms } = moments[first] ?? {};
      const [, time] = await timed(() =>
        until(nothing, `nothing is left of hosts killed from ${ms} ms of their ${name} on`, LEASE_MS + 10_000),
      );
      longest = Math.max(longest, time);
    }
    const saying = (line: RegExp) => said.filter((text) => line.test(text)).length;
    const [claimed, began] = [saying(/^has /m), saying(/^runs$/m)];
    console.log(
      `of ${said.length} killed hosts ${claimed} had claimed, ${began} had begun a command, ${saying(/^renews$/m)} had ` +
        `begun to renew, ${saying(/^releases$/m)} to release; they left ${behind} claims, the last one gone after ` +
        `${(longest / 1_000).toFixed(1)} s`,
    );
    expect(said).toHaveLength(100);
    expect(claimed).toBeGreaterThan(60);
    expect(began).toBeGreaterThan(40);
    expect(behind).toBeGreaterThan(40);
  },
  900_000,
);

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
    expect(places.length).toBeGreaterThan(40);
    const released = await Promise.allSettled(places.map(({ id }) => rough.release(id, { broken: false })));
    for (const one of released) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'ERR_BASH_TARGET' });
    }
    expect(released.filter(({ status }) => status === 'rejected')).toHaveLength(0);
  },
  600_000,
);
