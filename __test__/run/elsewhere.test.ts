import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BashOptions, BashSession, bash, PtySession } from 'agent-bash';
import { formatResult } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, isLinux, linuxTest } from '../support/index.ts';

/** Makes a program. */
function program(path: string, text = '#!/bin/sh\nexit 0\n'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A home with a project in it, and programs that no PATH has. */
function site() {
  const home = folder();
  const app = join(home, 'app');
  mkdirSync(join(app, '.git'), { recursive: true });
  mkdirSync(join(app, 'src'));
  return {
    home,
    app,
    checker: program(join(app, 'node_modules/.bin/zz-checker')),
    tool: program(join(home, '.local/bin/zz-tool')),
    options: { cwd: app, env: { HOME: home } },
  };
}

const hint = (path: string) => `«${path.slice(path.lastIndexOf('/') + 1)}» is not on PATH; it is at ${path}`;

describe('a program that is not on PATH', () => {
  test('is found in the project, for the exit code of the command itself', async () => {
    const { options, checker, app } = site();
    const result = await bash('zz-checker --run', options);
    expect(result).toMatchObject({ exitCode: 127, notes: [hint(checker)] });
    expect(formatResult(result)).toContain(`\n[${hint(checker)}]`);
    expect((await bash('cd src && zz-checker', options)).notes).toEqual([hint(checker)]);
    expect((await bash('timeout 5 zz-checker', { ...options, cwd: join(app, 'src') })).notes).toEqual([hint(checker)]);
    expect((await bash('zz-checker', { ...options, cwd: '/' })).notes).toEqual([]);
    expect((await bash('echo 1 | xargs zz-checker', options)).notes).toEqual([hint(checker)]);
  });

  test('is found in the directories of the home', async () => {
    const { options, home, tool } = site();
    expect((await bash('zz-tool', { ...options, cwd: '/' })).notes).toEqual([hint(tool)]);
    const npx = program(join(home, '.nvm/versions/node/v22.1.0/bin/npx'));
    program(join(home, '.nvm/versions/node/v9.11.2/bin/npx'));
    const without = { ...options, env: { ...options.env, PATH: '/nosuch' } };
    expect((await bash('npx zz-checker --run', without)).notes).toEqual([hint(npx)]);
  });

  test('is found in the PATH of a snapshot that this process has read', async () => {
    const { options, home } = site();
    const own = program(join(home, 'my tools/zz-own'));
    writeFileSync(join(home, '.bashrc'), `PATH="$PATH:${dirname(own)}"\n`);
    expect((await bash('zz-own', options)).notes).toEqual([]);
    expect(await bash('zz-own', { ...options, snapshot: true })).toMatchObject({ exitCode: 0, notes: [] });
    expect((await bash('zz-own', options)).notes).toEqual([hint(own)]);
  });

  test('is found for a command of a session, and one in a terminal', async () => {
    const { options, checker } = site();
    const session = new BashSession(options);
    onTestFinished(() => session.close());
    expect((await session.run('cd src; zz-checker')).notes).toEqual([hint(checker)]);
    expect((await session.run('zz-checker')).notes).toEqual([hint(checker)]);
    const terminal = new PtySession(options);
    await terminal.start('zz-checker');
    expect((await terminal.result()).notes).toEqual([hint(checker)]);
  });

  linuxTest('is found for any part, with evidence', async () => {
    const { options, checker, tool } = site();
    const run = (command: string, more: BashOptions = {}) => bash(command, { ...options, evidence: 'status', ...more });
    expect((await run('zz-checker | tail -5')).notes).toEqual([hint(checker)]);
    expect((await run('zz-checker || zz-tool; zz-checker; (cd / && zz-tool); true')).notes).toEqual([
      hint(checker),
      hint(tool),
    ]);
    expect((await run('zz-tool && zz-checker')).notes).toEqual([hint(tool)]);
    expect((await run("bash -c 'exit 127'; zz-no-such; true || zz-tool")).notes).toEqual([]);
    expect((await bash('zz-checker | tail -5', options)).notes).toEqual([]);
  });
});

describe('there is no hint', () => {
  test.each([
    ['for a program that is nowhere', 'zz-no-such'],
    ['for a path', './zz-checker'],
    ['for a program that is there and exits with 127', "sh -c 'exit 127'"],
    ['for another exit code', 'zz-checker; exit 3'],
    ['where it is not known which of two was not found', 'zz-tool; zz-checker'],
    ['for a word that is no name', '"zz checker"'],
  ])('%s', async (_, command) => {
    expect((await bash(command, site().options)).notes).toEqual([]);
  });

  test('for a file that is no program', async () => {
    const { options, checker } = site();
    chmodSync(checker, 0o644);
    expect((await bash('zz-checker', options)).notes).toEqual([]);
  });

  test('for what a confinement hides', async () => {
    const { options, app, home, checker, tool } = site();
    const run = async (command: string, confine: BashOptions['confine']) => {
      const { exitCode, notes } = await bash(command, { ...options, confine });
      expect(exitCode).toBe(127);
      // Other notes say what holds the confinement on this machine.
      return notes.filter((note) => note.includes('not on PATH'));
    };
    expect(await run('zz-checker', 'workspace')).toEqual([hint(checker)]);
    expect(await run('zz-checker', { hide: [join(app, 'node_modules')] })).toEqual([]);
    // The home of this test lies below /tmp, which the command has for itself.
    if (isLinux && home.startsWith('/tmp/')) expect(await run('zz-tool', 'workspace')).toEqual([]);
    expect(await run('zz-tool', { tmp: 'shared' })).toEqual([hint(tool)]);
  });
});
