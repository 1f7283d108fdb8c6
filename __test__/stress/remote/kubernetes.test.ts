import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, type ConnectOptions, connect } from 'agent-bash';
import { describe, expect } from 'vitest';
import { finished, mark, rejection, sleepers, state, timed, until } from '../../support/index.ts';
import { clients, cut } from './clients.ts';
import { Cluster, clusterTest, NAMESPACE, POD } from './cluster.ts';

/** Starts a cluster and connects to its pod. */
async function pod(options: ConnectOptions = {}) {
  const cluster = await Cluster.start();
  const { program } = cluster;
  const target = await connect({ kubernetes: { pod: POD, program }, ...options });
  finished(() => target.close());
  return { cluster, target };
}

/** Ways in which the link ends, none of which ends the program there. */
const CUTS: [string, (cluster: Cluster) => void | Promise<void>][] = [
  ['a killed kubectl', ({ config }) => cut('kubectl', config)],
  ['a cut connection', (cluster) => cluster.cut()],
  ['a frozen connection', (cluster) => cluster.freeze()],
  [
    'a restarted API server',
    async (cluster) => {
      await cluster.stop();
      await cluster.listen();
    },
  ],
];

describe('a pod', () => {
  clusterTest.each([
    [{}, `kubernetes:${POD}`, 'main'],
    [{ namespace: NAMESPACE }, `kubernetes:${NAMESPACE}/${POD}`, 'main'],
    [{ namespace: NAMESPACE, container: 'side' }, `kubernetes:${NAMESPACE}/${POD}/side`, 'side'],
    [{ container: 'side', context: 'here' }, `kubernetes:${POD}/side`, 'side'],
    [{ namespace: NAMESPACE, context: 'elsewhere' }, `kubernetes:${NAMESPACE}/${POD}`, 'main'],
  ])('of %j runs commands', async (named, id, container) => {
    const { program, calls, config } = await Cluster.start();
    for (const sent of [true, false]) {
      await using target = await connect({ kubernetes: { pod: POD, program, ...named } });
      expect(target).toMatchObject({ id, kind: 'kubernetes' });
      expect(target.info).toMatchObject({ hostName: POD, home: '/root', cwd: '/root', program: { sent } });
      const result = await bash('cat; echo err >&2; exit 7', { target, stdin: 'in' });
      expect(result).toMatchObject({ exitCode: 7, stdout: 'in', stderr: 'err\n', target: id });
      expect(calls.at(-1)).toStrictEqual({ namespace: NAMESPACE, pod: POD, container });
    }
    await until(() => clients('kubectl', config).length === 0);
  });

  clusterTest.each(CUTS)('goes on after %s, and nothing runs twice', async (_, end) => {
    const { cluster, target } = await pod({ aliveMs: 3_000 });
    let text = '';
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
    };
    const ran = bash('echo one | tee -a log; until [ -e go ]; do sleep 0.02; done; echo two; exit 9', {
      target,
      onOutput,
    });
    await until(() => text === 'one\n');
    const cutNow = state(target, 'disconnected');
    await end(cluster);
    await cutNow;
    await bash('echo three >> log', { target });
    writeFileSync(join(cluster.home, 'go'), '');
    expect(await ran).toMatchObject({ exitCode: 9, stdout: 'one\ntwo\n' });
    expect(readFileSync(join(cluster.home, 'log'), 'utf8')).toBe('one\nthree\n');
  });

  clusterTest('behind a proxy that cuts idle connections serves all calls', async () => {
    const { cluster, target } = await pod();
    cluster.idleMs = 150;
    cluster.cut();
    let cuts = 0;
    target.on('disconnected', () => {
      cuts += 1;
    });
    for (let turn = 0; turn < 5; turn++) {
      expect(await bash(`echo ${turn} >> log; sleep 0.3; exit ${turn}`, { target })).toMatchObject({ exitCode: turn });
    }
    expect(cuts).toBeGreaterThan(0);
    expect(readFileSync(join(cluster.home, 'log'), 'utf8')).toBe('0\n1\n2\n3\n4\n');
  });

  clusterTest('has nothing of a target that was closed', async () => {
    const { cluster, target } = await pod();
    const seconds = mark();
    const ran = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 2);
    const closed = target.close();
    const [, time] = await timed(() => until(() => sleepers(seconds).length === 0));
    expect(time).toBeLessThan(2_000);
    await closed;
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => clients('kubectl', cluster.config).length === 0);
  });

  clusterTest('that was restarted makes what ran lost, and works on', async () => {
    const { cluster, target } = await pod({ aliveMs: 3_000 });
    await bash('touch file', { target });
    const ran = bash(`sleep ${mark()}`, { target });
    await cluster.startPod();
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    expect(await bash('ls; exit 3', { target })).toMatchObject({ stdout: 'file\n', exitCode: 3 });
  });

  clusterTest.each([null, 'two'])('with its uid is lost once its uid is %s, and no other pod is used', async (uid) => {
    const cluster = await Cluster.start();
    const kubernetes = { pod: POD, program: cluster.program, uid: 'one' };
    await using target = await connect({ kubernetes });
    const ran = bash(`sleep ${mark()}`, { target });
    await bash('true', { target });
    cluster.uid = uid;
    const { length } = cluster.calls;
    await cluster.startPod();
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    const lost = { code: 'ERR_BASH_TARGET', reason: 'lost', message: expect.stringContaining('the pod is gone') };
    expect(await rejection(() => bash('true', { target }))).toMatchObject(lost);
    expect(await rejection(() => connect({ kubernetes }))).toMatchObject(lost);
    expect(cluster.calls).toHaveLength(length);
  });

  clusterTest('that is gone for longer than the lease makes what ran lost, and heals', async () => {
    const { cluster, target } = await pod({ detachMs: 1_500 });
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    await cluster.stop();
    expect(await ran).toMatchObject({ status: 'lost' });
    await until(() => sleepers(seconds).length === 0);
    expect(await rejection(() => bash('true', { target }))).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'unreachable',
    });
    await cluster.listen();
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });
});

describe('what cannot be reached', () => {
  clusterTest.each([
    ['a pod that is missing', { pod: 'nowhere' }, 'unreachable', 'pods "nowhere" not found'],
    ['a namespace that is missing', { namespace: 'other' }, 'unreachable', 'namespaces "other" not found'],
    ['a container that is missing', { container: 'nowhere' }, 'unreachable', 'nowhere'],
    ['a context that is missing', { context: 'nowhere' }, 'unreachable', 'nowhere'],
  ])('%s is told', async (_, named, reason, said) => {
    const { program, home, config } = await Cluster.start();
    const error = await rejection(() => connect({ kubernetes: { pod: POD, program, ...named } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(said) });
    expect(existsSync(join(home, '.cache'))).toBe(false);
    await until(() => clients('kubectl', config).length === 0);
  });

  clusterTest.each([
    [401, 'Unauthorized', 'Unauthorized', 'auth'],
    [403, 'Forbidden', `pods "${POD}" is forbidden: User "me" cannot create resource "pods/exec"`, 'auth'],
    [500, 'InternalError', 'unable to upgrade connection: container not found ("main")', 'unreachable'],
    [500, 'InternalError', 'error dialing backend: dial tcp 10.0.0.1:10250: i/o timeout', 'unreachable'],
  ])('an exec that is refused with %i %s is told', async (code, kind, message, reason) => {
    const cluster = await Cluster.start();
    cluster.refusal = [code, kind, message];
    const error = await rejection(() => connect({ kubernetes: { pod: POD, program: cluster.program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(message) });
  });

  clusterTest('a pod that has ended is told', async () => {
    const cluster = await Cluster.start();
    cluster.phase = 'Succeeded';
    const error = await rejection(() => connect({ kubernetes: { pod: POD, program: cluster.program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'unreachable' });
    expect(error.message).toContain('Succeeded');
  });

  clusterTest('an API server that is down is told', async () => {
    const cluster = await Cluster.start();
    await cluster.stop();
    const error = await rejection(() => connect({ kubernetes: { pod: POD, program: cluster.program } }));
    expect(error).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'unreachable',
      message: expect.stringContaining('refused'),
    });
  });
});
