import { BashSession, bash, connect } from 'agent-bash';
import { describe, expect } from 'vitest';
import { mark, rejection, sleepers, state, until } from '../../support/index.ts';
import { clients, cut } from './clients.ts';
import { containerTest, dockerTest, INSTALLED, podmanWith, serve } from './containers.ts';
import { runIn } from './world.ts';

/** Time after which nothing of ours is in a container whose target was closed. */
const GONE = 2_000;

describe('a container of Podman', () => {
  containerTest.each([
    ['busybox', '/', '/var/tmp/'],
    ['coreutils', '/root', '/root/.cache/'],
  ] as const)('with %s runs commands', async (image, home, place) => {
    const { run, program } = await podmanWith(image);
    const container = run(image);
    for (const sent of [true, false]) {
      await using target = await connect({ podman: { container, program } });
      expect(target).toMatchObject({ id: `podman:${container}`, kind: 'podman' });
      expect(target.info).toMatchObject({ uid: 0, home, cwd: home, hostName: 'box', bash: '/bin/bash' });
      expect(target.info.program).toMatchObject({ sent, path: expect.stringContaining(place) });
      const result = await bash('pwd; cat; echo err >&2; exit 7', { target, stdin: 'in' });
      expect(result).toMatchObject({ exitCode: 7, stdout: `${home}\nin`, stderr: 'err\n', target: target.id });
      expect(await bash('kill -KILL $$', { target })).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      await using session = new BashSession({ target });
      await session.run('cd /tmp; X=1');
      expect((await session.run('echo "$X $PWD"')).stdout).toBe('1 /tmp\n');
    }
    await until(() => clients('podman', container).length === 0);
  });

  containerTest('goes on when its client is killed, and nothing runs twice', async () => {
    const { run, program } = await podmanWith('busybox');
    const container = run('busybox');
    await using target = await connect({ podman: { container, program } });
    let text = '';
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
    };
    const ran = bash('for i in $(seq 300); do echo $i; echo $i >> log; sleep 0.01; done; exit 9', { target, onOutput });
    for (const count of [20, 120, 220]) {
      await until(() => text.includes(`\n${count}\n`));
      cut('podman', container);
      await bash('echo again >> log', { target });
    }
    expect(await ran).toMatchObject({ exitCode: 9 });
    const lines = Array.from({ length: 300 }, (_, index) => `${index + 1}`);
    expect(text.trimEnd().split('\n')).toStrictEqual(lines);
    const log = Buffer.from((await target.readFile('log')) ?? [])
      .toString()
      .trimEnd()
      .split('\n');
    expect(log.filter((line) => line !== 'again')).toStrictEqual(lines);
    expect(log).toHaveLength(303);
  });

  containerTest('has nothing of a target that was closed', async () => {
    const { run, program, enter } = await podmanWith('busybox');
    const container = run('busybox');
    const target = await connect({ podman: { container, program } });
    const seconds = mark();
    const ran = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 2);
    const before = performance.now();
    const closed = target.close();
    await until(() => sleepers(seconds).length === 0);
    // Its first process leaves zombies.
    await until(() => !/^[^Z].*agent-bash-host/m.test(runIn(enter, 'ps -eo stat=,args=')));
    expect(performance.now() - before).toBeLessThan(GONE);
    await closed;
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => clients('podman', container).length === 0);
  });

  containerTest('that was stopped makes what ran lost, and heals when it is started', async () => {
    const { run, program, podman } = await podmanWith('busybox');
    const container = run('busybox');
    await using target = await connect({ podman: { container, program }, detachMs: 3_000 });
    const seconds = mark();
    const ran = bash(`echo out; sleep ${seconds}`, { target, onOutput: () => {} });
    await until(() => sleepers(seconds).length === 1);
    podman('stop', '--time=0', container);
    const result = await ran;
    expect(result).toMatchObject({ status: 'lost', exitCode: null, stdout: 'out\n' });
    expect(target.state).toBe('lost');
    const error = await rejection(() => bash('true', { target }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'unreachable' });
    podman('start', container);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  containerTest('that was restarted makes what ran lost at once', async () => {
    const { run, program, podman } = await podmanWith('busybox');
    const container = run('busybox');
    // A client of podman is often silent from then on, and does not end.
    await using target = await connect({ podman: { container, program }, aliveMs: 2_000 });
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    podman('restart', '--time=0', container);
    expect(await ran).toMatchObject({ status: 'lost', notes: [expect.stringContaining('restarted')] });
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  containerTest('whose first process does not reap works on after our program was killed', async () => {
    const { run, program, podman } = await podmanWith('busybox');
    const container = run('busybox');
    await using target = await connect({ podman: { container, program } });
    for (let turn = 0; turn < 3; turn++) {
      const seconds = mark();
      const ran = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target });
      await until(() => sleepers(seconds).length === 2);
      podman('exec', container, 'kill', '-KILL', `${target.info.pid}`);
      expect(await ran).toMatchObject({ status: 'lost' });
      await until(() => sleepers(seconds).length === 0);
      await state(target, 'connected');
    }
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  containerTest.each([
    ['is missing', false, 'no such container'],
    ['is not running', true, 'running'],
  ])('that %s is told', async (_, isThere, said) => {
    const { run, program, podman } = await podmanWith('busybox');
    const container = isThere ? run('busybox') : 'nowhere';
    if (isThere) podman('stop', '--time=0', container);
    const error = await rejection(() => connect({ podman: { container, program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'unreachable', target: `podman:${container}` });
    expect(error.message).toContain(said);
  });

  containerTest('with a read-only root has the program in a directory in memory', async () => {
    const { run, program } = await podmanWith('busybox');
    const container = run('busybox', '--read-only', '--read-only-tmpfs=false', '--tmpfs=/tmp:exec');
    await using target = await connect({ podman: { container, program } });
    expect(target.info.program.path).toMatch(/^\/tmp\//);
    expect(await bash('echo ok', { target })).toMatchObject({ stdout: 'ok\n' });
  });

  containerTest('with a read-only root and no other place is told', async () => {
    const { run, program } = await podmanWith('busybox');
    const container = run('busybox', '--read-only', '--read-only-tmpfs=false', '--tmpfs=/tmp:noexec');
    const error = await rejection(() => connect({ podman: { container, program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'no-place' });
    for (const word of ['/var/tmp', '/tmp', 'noexec', 'hostProgram']) expect(error.message).toContain(word);
  });

  containerTest('has the program in its image, for a user without a home', async () => {
    const { run, program } = await podmanWith('installed');
    const container = run('installed', '--read-only', '--read-only-tmpfs=false');
    await using target = await connect({ podman: { container, program }, hostProgram: INSTALLED, cwd: '/' });
    expect(target.info).toMatchObject({ uid: 1_000, program: { path: INSTALLED, sent: false } });
    expect(await bash('id -u; exit 4', { target })).toMatchObject({ stdout: '1000\n', exitCode: 4 });
    cut('podman', container);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  containerTest('has another program in its image', async () => {
    const { run, program } = await podmanWith('busybox');
    const container = run('busybox');
    const error = await rejection(() => connect({ podman: { container, program }, hostProgram: '/bin/busybox' }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'hash' });
    expect(error.message).toContain('/bin/busybox');
  });

  containerTest('is entered as a user of it', async () => {
    const { run, program } = await podmanWith('coreutils');
    const container = run('coreutils');
    await using target = await connect({ podman: { container, user: 'dev', program } });
    expect(target.info).toMatchObject({ uid: 1_000, home: '/tmp' });
    expect((await bash('id -u', { target })).stdout).toBe('1000\n');
    const error = await rejection(() => connect({ podman: { container, user: 'nobody-at-all', program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', message: expect.stringContaining('nobody-at-all') });
  });

  containerTest('without a shell is told', async () => {
    const { run, program, podman } = await podmanWith('busybox');
    const container = run('busybox');
    podman('exec', container, 'rm', '/bin/sh');
    const error = await rejection(() => connect({ podman: { container, program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', message: expect.stringContaining('/bin/sh') });
  });
});

describe('a container of Docker', () => {
  dockerTest('runs commands, and goes on when its client is killed', async () => {
    const podman = await podmanWith('busybox');
    await serve(podman);
    const [container, program] = [podman.run('busybox'), podman.docker];
    await using target = await connect({ docker: { container, program } });
    expect(target).toMatchObject({ id: `docker:${container}`, kind: 'docker' });
    expect(await bash('cat; exit 7', { target, stdin: 'in' })).toMatchObject({ exitCode: 7, stdout: 'in' });
    const ran = bash('echo began > began; until [ -e go ]; do sleep 0.02; done; exit 8', { target });
    await until(() => target.stat('began'));
    cut('docker', container);
    await target.writeFile('go', '');
    expect(await ran).toMatchObject({ exitCode: 8 });
    const error = await rejection(() => connect({ docker: { container: 'nowhere', program } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'unreachable' });
  });
});
