import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, bash, type ConnectOptions, connect, TargetPool } from 'agent-bash';
import { slurmJobs } from 'agent-bash/slurm';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import {
  addressOf,
  finished,
  folder,
  mark,
  packageRoot,
  rejection,
  sleepers,
  state,
  timed,
  until,
} from '../../support/index.ts';
import { clusterTest, SlurmCluster } from './slurm-cluster.ts';

let directory = '';
let cluster: SlurmCluster;
const { PATH } = process.env;

beforeAll(async () => {
  directory = mkdtempSync('/tmp/agent-bash-slurm-');
  cluster = await SlurmCluster.start(directory);
  process.env.PATH = `${cluster.clients}:${PATH}`;
});

afterAll(async () => {
  process.env.PATH = PATH;
  await cluster?.end();
  rmSync(directory, { recursive: true, force: true });
});

const request = (signal = new AbortController().signal) => ({ affinity: null, signal });
const noJob = () => until(async () => (await cluster.jobs()).length === 0, 'no job is left');

/** Connects to a job, which ends with the test. */
async function job(options: ConnectOptions = {}, settings: object = {}) {
  const jobs = slurmJobs({ minutes: 10, ...settings });
  const place = await jobs.acquire(request());
  finished(async () => {
    await jobs.release(place.id, { broken: false });
    await noJob();
  });
  const target = await connect({ ...place.address, name: place.id, ...options });
  finished(() => target.close());
  return { jobs, place, target, token: (place.address as { command: string[] }).command.at(-1) ?? '' };
}

clusterTest('a pool of jobs behind a login node runs the example of docs/fleets.md', async () => {
  await using login = await connect({ ...addressOf(folder()), name: 'login' });
  const pool = new TargetPool({ provider: slurmJobs({ login, partition: 'debug', minutes: 60 }), max: 4 });
  finished(() => pool.close());
  const runs = [1, 2].map(() => bash('echo "$SLURM_JOB_PARTITION"; hostname', { target: pool }));
  for (const { stdout, target } of await Promise.all(runs)) {
    expect(stdout).toMatch(/^debug\nnode[12]\n$/);
    expect(target).toMatch(/^slurm:\d+$/);
  }
  await pool.close();
  await noJob();
});

describe('a job', () => {
  clusterTest('runs commands on its node, and all bytes pass', async () => {
    const { target, place } = await job();
    expect(place.id).toMatch(/^slurm:\d+$/);
    expect(Math.abs((place.expiresAt ?? 0) - Date.now() - 600_000)).toBeLessThan(10_000);
    const result = await bash('cat; hostname; echo "${SLURM_JOB_ID}"; exit 7', { target, stdin: 'in ' });
    expect(result).toMatchObject({ exitCode: 7, target: place.id });
    expect(result.stdout).toBe(`in ${target.info.hostName}\n${place.id.slice('slurm:'.length)}\n`);
    expect(target.info.hostName).toMatch(/^node[12]$/);
    const bytes = new Uint8Array(randomBytes(3_000_000));
    const path = join(folder(), 'bytes');
    await target.writeFile(path, bytes);
    expect(Buffer.compare((await target.readFile(path)) ?? new Uint8Array(), bytes)).toBe(0);
  });

  clusterTest('of two nodes runs commands on the first one', async () => {
    const { target } = await job({}, { args: ['--nodes=2', '--ntasks=2'] });
    expect((await bash('hostname; srun hostname | sort', { target })).stdout).toBe('node1\nnode1\nnode2\n');
  });

  clusterTest('goes on when srun is killed, and nothing runs twice', async () => {
    const { target, token } = await job({ aliveMs: 3_000 });
    const place = folder();
    const ran = bash(
      `echo one | tee -a ${place}/log; until [ -e ${place}/go ]; do sleep 0.02; done; echo two; exit 9`,
      {
        target,
      },
    );
    await until(() => existsSync(join(place, 'log')));
    for (let turn = 0; turn < 3; turn++) {
      const cut = state(target, 'disconnected');
      await cluster.killSteps(token);
      await cut;
      await bash(`echo ${turn} >>${place}/log`, { target });
    }
    writeFileSync(join(place, 'go'), '');
    expect(await ran).toMatchObject({ exitCode: 9, stdout: 'one\ntwo\n' });
    expect(readFileSync(join(place, 'log'), 'utf8')).toBe('one\n0\n1\n2\n');
  });

  clusterTest('goes on when its controller is restarted', async () => {
    const { target } = await job();
    const ran = bash('sleep 3; exit 9', { target });
    await cluster.restartController();
    expect(await ran).toMatchObject({ exitCode: 9 });
    await bash('true', { target });
  });
});

describe('the end of a job', () => {
  clusterTest('comes with a goodbye', async () => {
    const { target } = await job();
    const seconds = mark();
    const ran = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 2);
    const closed = target.close();
    const [, time] = await timed(() => until(() => sleepers(seconds).length === 0));
    expect(time).toBeLessThan(2_000);
    await closed;
    expect(['lost', 'aborted']).toContain((await ran).status);
    const [, rest] = await timed(noJob);
    expect(rest).toBeLessThan(3_000);
  });

  clusterTest('comes with the lease', async () => {
    const { target, token } = await job({ detachMs: 1_500, aliveMs: 3_000 });
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    const srun = join(cluster.clients, 'srun');
    const script = readFileSync(srun);
    writeFileSync(srun, '#!/bin/sh\nexit 1\n');
    finished(() => writeFileSync(srun, script));
    await cluster.killSteps(token);
    expect(await ran).toMatchObject({ status: 'lost' });
    await until(() => sleepers(seconds).length === 0);
    await noJob();
  });

  clusterTest('comes when its host is killed', async () => {
    const host = spawn(process.execPath, [join(import.meta.dirname, 'slurm-host.mjs')], {
      cwd: packageRoot,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    expect(await cluster.jobs()).toHaveLength(1);
    host.kill('SIGKILL');
    await noJob();
  });

  clusterTest(
    'comes with its time, and makes what ran lost',
    async () => {
      const { target, place } = await job({ detachMs: 2_000 }, { minutes: 1, partition: 'short' });
      expect((place.expiresAt ?? 0) - Date.now()).toBeLessThan(61_000);
      const seconds = mark();
      const [ran, time] = await timed(() => bash(`sleep ${seconds}`, { target, timeoutMs: 300_000 }));
      expect(ran).toMatchObject({ status: 'lost', exitCode: null });
      expect(time).toBeGreaterThan(30_000);
      await until(() => sleepers(seconds).length === 0);
      const error = await rejection(() => bash('true', { target }));
      expect(error).toMatchObject({ code: 'ERR_BASH_TARGET' });
    },
    240_000,
  );

  clusterTest('comes with its node', async () => {
    const { target, place } = await job({ detachMs: 3_000, aliveMs: 3_000 });
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    await cluster.killNode(target.info.hostName, place.id.slice('slurm:'.length));
    expect(await ran).toMatchObject({ status: 'lost' });
    await until(() => sleepers(seconds).length === 0);
  });

  clusterTest('comes with its release, also amid commands and tasks', async () => {
    const { target, jobs, place } = await job({ detachMs: 3_000 });
    const seconds = mark();
    const registry = new BackgroundRegistry({ target });
    await registry.start(`sleep ${seconds}`);
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 2);
    await jobs.release(place.id, { broken: false });
    await noJob();
    await until(() => sleepers(seconds).length === 0);
    expect(['lost', 'signaled', 'exited']).toContain((await ran).status);
    expect(existsSync(`/tmp/agent-bash-${(place.address as { command: string[] }).command.at(-1)}`)).toBe(false);
  });
});

describe('a job that does not begin', () => {
  clusterTest('is cancelled on abort', async () => {
    const given = new AbortController();
    const acquired = rejection(() => slurmJobs({ minutes: 5, partition: 'off' }).acquire(request(given.signal)));
    await until(async () => (await cluster.jobs()).some((line) => line.endsWith(' PENDING')));
    given.abort();
    expect(await acquired).toMatchObject({ code: 'ABORT_ERR', message: expect.stringContaining('PENDING (Partition') });
    await noJob();
  });

  clusterTest.each([
    ['a partition that is missing', { partition: 'nowhere' }, 'unreachable', 'sinfo'],
    ['a time that is too long', { partition: 'short', minutes: 5 }, 'no-place', 'PartitionTimeLimit'],
    ['resources that no node has', { args: ['--mem=999999G'] }, 'no-place', 'node configuration'],
    ['an argument that does not exist', { args: ['--nonsense'] }, 'unreachable', '--nonsense'],
  ])('for %s is told', async (_, settings, reason, words) => {
    const error = await rejection(() => slurmJobs({ minutes: 5, ...settings }).acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(words) });
    await noJob();
  });
});

clusterTest('ten jobs at once are ten places, and none is left', async () => {
  const jobs = slurmJobs({ minutes: 5 });
  const places = await Promise.all(Array.from({ length: 10 }, () => jobs.acquire(request())));
  const targets = await Promise.all(places.map(({ id, address }) => connect({ ...address, name: id })));
  const told = await Promise.all(targets.map((target) => bash('echo "slurm:$SLURM_JOB_ID"', { target })));
  expect(told.map(({ stdout }) => stdout.trim())).toStrictEqual(places.map(({ id }) => id));
  await Promise.all(targets.map((target) => target.close()));
  await noJob();
});
