import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { BackgroundTask, BashResult } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { linuxTest, until } from '../support/index.ts';

function place() {
  // Not in /tmp, which confined commands have for themselves.
  const base = mkdtempSync(join(homedir(), 'agent-bash-test-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [cwd, other] = [join(base, 'root'), join(base, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  return { cwd, other };
}

describe('run --confine', () => {
  linuxTest('limits the command, and prints what was denied on standard error', async () => {
    const { cwd, other } = place();
    const command = `echo x > in; echo x > ${other}/x; echo done`;
    const { code, stdout, stderr } = await new Program().run('run', '--confine', '--cwd', cwd, '--', command);
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(stderr).toContain(`agent-bash: confined: write ${other}/x denied (bash); --write ${other} would allow it`);
    expect([existsSync(join(cwd, 'in')), existsSync(join(other, 'x'))]).toEqual([true, false]);
  });

  linuxTest('takes the command behind it, and a profile with or without an equals sign', async () => {
    const { cwd } = place();
    const program = new Program();
    const bare = await program.json<BashResult>('run', '--cwd', cwd, '--confine', 'echo x > x');
    expect(bare.confinement?.profile).toBe('workspace');
    const { code, stdout } = await program.run('run', '--json', '--cwd', cwd, '--confine=read-only', 'echo x > y');
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as BashResult).confinement?.profile).toBe('read-only');
    expect((await program.run('run', '--cwd', cwd, '--confine', 'read-only', '--', 'echo x > y')).code).toBe(1);
    expect([existsSync(join(cwd, 'x')), existsSync(join(cwd, 'y'))]).toEqual([true, false]);
  });

  linuxTest('--write and --hide widen and narrow it, by themselves too', async () => {
    const { cwd, other } = place();
    const program = new Program();
    const run = (...flags: string[]) => program.json<BashResult>('run', '--cwd', cwd, ...flags);
    expect((await run('--write', other, `echo x > ${other}/x`)).exitCode).toBe(0);
    expect(existsSync(join(other, 'x'))).toBe(true);
    const { stdout } = await program.run('run', '--json', '--cwd', cwd, '--hide', other, `cat ${other}/x`);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 1, stdout: '' });
  });

  test.each([
    [['--confine=all'], 'It must be workspace or read-only'],
    [['--allow-host', 'https://a.example'], 'is a URL'],
    [['--secret', 'TOKEN'], 'It must be NAME@HOST'],
    [['--secret', 'NOT_SET@a.example'], 'The variable NOT_SET is not set'],
    [['--secret', 'T@a.example=x'], 'The source must be'],
    [['--secret', 'PATH@a.example'], 'by which programs are steered'],
    [['--ssh', 'a.example'], 'confine.ssh'],
  ])('%j is refused', async (flags, message) => {
    const { code, stderr } = await new Program().run('run', ...flags, 'true');
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });

  linuxTest('--secret gives a stand-in, from a variable or a file', async () => {
    const { cwd, other } = place();
    const value = 'glpat-abcdefghij0123456789';
    writeFileSync(join(other, 'value'), `${value}\n`);
    for (const source of ['', '=env:TOKEN', `=file:${join(other, 'value')}`]) {
      const program = new Program({ TOKEN: value });
      const flags = ['--cwd', cwd, '--hide', other, '--secret', `TOKEN@git.example,*.git.example:8443${source}`];
      const { stdout, confinement } = await program.json<BashResult>('run', ...flags, 'echo "$TOKEN"');
      expect(stdout).toMatch(/^glpat-[a-z]{10}[0-9]{10}\n$/);
      expect(stdout).not.toContain(value);
      expect(confinement?.secrets).toEqual([]);
    }
  });

  test('a write root that does not exist is ERR_BASH_CONFINEMENT, and nothing runs', async () => {
    const { code, stdout } = await new Program().run('run', '--json', '--write', '/none', 'true');
    expect(code).toBe(125);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'ERR_BASH_CONFINEMENT' });
  });
});

linuxTest('kill prints what a task was denied on standard error', async () => {
  const { cwd, other } = place();
  const program = new Program();
  const command = `echo x > ${other}/x; echo tried; sleep 300`;
  const { id } = await program.json<BackgroundTask>('run', '--background', '--confine', '--cwd', cwd, command);
  await until(async () => (await program.run('logs', id)).stdout.includes('tried'), 'the command has tried');
  const { code, stdout, stderr } = await program.run('kill', id);
  expect([code, stdout]).toEqual([0, expect.stringContaining('killed')]);
  expect(stderr).toContain(`agent-bash: confined: write ${other}/x denied (bash); --write ${other} would allow it`);
});

linuxTest('doctor tries each part', async () => {
  const { checks } = await new Program().json<{ checks: { name: string; state: string }[] }>('doctor');
  const parts = checks.filter(({ name }) => name.startsWith('confine-'));
  expect(parts.map(({ name }) => name)).toEqual([
    'confine-way',
    'confine-files',
    'confine-network',
    'confine-processes',
    'confine-syscalls',
    'confine-hosts',
    'confine-secrets',
  ]);
  for (const { state } of parts) expect(['ok', 'missing']).toContain(state);
});
