import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Ended, Program } from '../../../cli/support.ts';
import { ADDON, folder, isLinux, linuxTest, mentioning, packageRoot, testNeeding } from '../../../support/index.ts';

interface Check {
  name: string;
  state: 'ok' | 'missing' | 'failed';
  found: string;
  cost: string | null;
}

interface Report {
  ok: boolean;
  version: string;
  platform: string;
  checks: Check[];
}

const EVERYWHERE = [
  'node',
  'addon',
  'supervisor',
  'bash',
  'tree',
  'warm-starts',
  'waiting',
  'terminals',
  'open-files',
  'processes',
  'memory',
  'state-folder',
  'temporary-folder',
  'confine-way',
  'confine-files',
  'confine-network',
  'confine-processes',
  'confine-syscalls',
  'confine-hosts',
  'confine-secrets',
  'drafts',
];
const OF_LINUX = ['pidfd', 'close-range', 'landlock', 'user-namespaces', 'seccomp-notify', 'proc', 'cgroup'];

function reported({ stdout }: Ended): Report & { check(name: string): Check | undefined } {
  const report = JSON.parse(stdout) as Report;
  return { ...report, check: (name) => report.checks.find((one) => one.name === name) };
}

/** The program behind shell text, such as `ulimit -n 512`. */
function behind(before: string, env: NodeJS.ProcessEnv = {}): Ended {
  const argv = [process.execPath, join(packageRoot, 'dist/cli.mjs'), 'doctor', '--json'];
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...env }, encoding: 'utf8' as const };
  const {
    status: code,
    signal,
    stdout,
    stderr,
  } = spawnSync('bash', ['-c', `${before}; "$@"`, 'bash', ...argv], options);
  return { code, signal, stdout, stderr };
}

describe('doctor', () => {
  test('reports the machine’s capabilities, and that commands run', async () => {
    const ended = await new Program().run('doctor', '--json');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { ok, version, platform, checks, check } = reported(ended);
    expect(ok).toBe(true);
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(platform).toBe(`${process.platform} ${process.arch}`);
    expect(checks.map(({ name }) => name).sort()).toEqual([...EVERYWHERE, ...(isLinux ? OF_LINUX : [])].sort());
    for (const { state, found, cost } of checks) {
      expect(found).not.toBe('');
      expect(cost === null).toBe(state === 'ok');
    }
    expect(check('addon')?.found).toMatch(/\/agent-bash\..*\.node/);
    expect(check('bash')?.found).toMatch(/^\d+\.\d+.*, \/.*bash$/);
    expect(check('terminals')?.found).toMatch(/^\/dev\//);
  });

  linuxTest('finds on Linux that the whole tree is ended, and who waits', async () => {
    const { check } = reported(await new Program().run('doctor', '--json'));
    expect(check('tree')?.state).toBe('ok');
    expect(check('waiting')?.state).toBe('ok');
    expect(check('warm-starts')?.state).toBe('ok');
    expect(check('pidfd')?.state).toBe('ok');
  });

  test('prints one line for each check, and its consequence below', async () => {
    const { code, stdout } = await new Program({ AGENT_BASH_WARM: '0' }).run('doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^agent-bash \d\S* on \w+ \w+: commands run\n/);
    expect(stdout).toMatch(/^✓ bash +\d/m);
    expect(stdout).toMatch(/^– warm-starts +turned off by AGENT_BASH_WARM=0\n +costs: every command waits/m);
  });

  linuxTest('names a remedy for missing cgroups', async () => {
    const off = reported(await new Program({ AGENT_BASH_CGROUP: '0' }).run('doctor', '--json')).check('cgroup');
    expect(off?.cost).toMatch(/; unset the variable$/);
    const { state, found, cost } = reported(await new Program().run('doctor', '--json')).check('cgroup') ?? {};
    if (state === 'missing') expect(cost, found).toMatch(/; .*(Delegate=yes|start|use Linux)/);
  });

  const pids = isLinux && spawnSync('unshare', ['-rpf', '--mount-proc', 'true']).status === 0;
  testNeeding(
    'PID namespaces',
    pids,
    'linux',
  )('as process 1 it finds that confined processes are apart', () => {
    const ended = behind(`[ "$1" ] && exec unshare -rpf --mount-proc "$@"`);
    const { check } = reported(ended);
    expect(check('confine-processes')?.found).not.toContain('nothing held it');
  });

  test('leaves nothing behind', async () => {
    const temporary = folder();
    const program = new Program({ TMPDIR: temporary });
    await program.run('doctor');
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(program.state)).toEqual([]);
    expect(mentioning('sleep 20.17')).toEqual([]);
  });

  test('without a bash no command runs', async () => {
    const ended = await new Program({ PATH: '/nowhere' }).run('doctor', '--json');
    expect(ended.code).toBe(1);
    const { ok, check } = reported(ended);
    expect(ok).toBe(false);
    expect(check('bash')).toMatchObject({ state: 'failed', cost: 'no command runs' });
    expect(check('bash')?.found).toMatch(/bash/);
    expect(check('temporary-folder')).toMatchObject({ state: 'ok' });
  });

  test('a build that did not pass all tests is experimental', async () => {
    const file = join(folder(), 'agent-bash.linux-arm64-musl.node');
    copyFileSync(ADDON, file);
    const { check } = reported(await new Program({ AGENT_BASH_ADDON: file }).run('doctor', '--json'));
    const cost = 'the build for linux-arm64-musl was compiled and has not passed all tests: it is experimental';
    expect(check('addon')).toMatchObject({ state: 'missing', cost });
  });

  test('without an addon it says why', async () => {
    const program = new Program({ AGENT_BASH_ADDON: '/nowhere/x.node' });
    const ended = await program.run('doctor', '--json');
    expect(ended.code).toBe(1);
    const { ok, check } = reported(ended);
    expect(ok).toBe(false);
    expect(check('addon')).toMatchObject({ state: 'failed', cost: 'no command runs' });
    expect(check('addon')?.found).toBe('/nowhere/x.node does not exist');
    expect(check('node')).toMatchObject({ state: 'ok' });
    const { stdout } = await program.run('doctor');
    expect(stdout).toMatch(/: no command runs\n/);
    expect(stdout).toMatch(/^✗ addon /m);
  });

  test('names what few descriptors cost', () => {
    expect(reported(behind('ulimit -n 300')).check('open-files')).toMatchObject({
      state: 'missing',
      found: '300, for 22 commands at once',
      cost: expect.stringContaining('wait for their turn'),
    });
  });

  test('names directories that cannot be used', async () => {
    const ended = await new Program({ XDG_STATE_HOME: '/dev/null/x', TMPDIR: '/nowhere' }).run('doctor', '--json');
    const { ok, check } = reported(ended);
    expect(ok).toBe(true);
    expect(check('state-folder')).toMatchObject({ state: 'missing', found: expect.stringContaining('/dev/null/x') });
    expect(check('temporary-folder')).toMatchObject({ state: 'missing', found: expect.stringContaining('/nowhere') });
  });

  const mounts = isLinux && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0;
  testNeeding(
    'mount namespaces',
    mounts,
    'linux',
  )('sees a temporary folder that is mounted noexec', () => {
    const inside = `mount -t tmpfs -o noexec,size=300m x ${folder()}`;
    const ended = behind(`[ "$1" ] && exec unshare -rm bash -c '${inside}; cd /; "$@"' bash "$@"`, {
      TMPDIR: inside.split(' ').at(-1) ?? '',
    });
    expect(reported(ended).check('temporary-folder')).toMatchObject({
      state: 'missing',
      found: expect.stringContaining('mounted noexec'),
      cost: expect.stringContaining('Permission denied'),
    });
  });
});
