import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, warmUp } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, linuxTest, rejection } from '../support/index.ts';
import { runs, runsWarm, warmed } from './support.ts';

describe('the directory of a warm shell', () => {
  linuxTest('Linux: removed and made again: the command is in the new one', async () => {
    const cwd = join(folder(), 'work');
    mkdirSync(cwd);
    await warmed({ cwd });
    rmdirSync(cwd);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'new'), '');
    expect(await bash('ls; echo made >here; pwd', { cwd })).toMatchObject({ exitCode: 0, stdout: `new\n${cwd}\n` });
    expect((await bash('ls', { cwd })).stdout).toBe('here\nnew\n');
  });

  linuxTest('Linux: moved away, another one in its place', async () => {
    const [cwd, old] = [join(folder(), 'work'), join(folder(), 'old')];
    mkdirSync(cwd);
    await warmed({ cwd });
    renameSync(cwd, old);
    mkdirSync(cwd);
    await bash('touch here', { cwd });
    expect([readdirSync(old), readdirSync(cwd)]).toEqual([[], ['here']]);
  });

  linuxTest('Linux: a link in its place', async () => {
    const [cwd, target] = [join(folder(), 'work'), folder()];
    mkdirSync(cwd);
    await warmed({ cwd });
    rmdirSync(cwd);
    symlinkSync(target, cwd);
    const { stdout } = await bash('pwd; pwd -P; touch here', { cwd });
    const cold = await bash('pwd; pwd -P', { cwd, warm: false });
    expect(stdout).toBe(cold.stdout);
    expect(readdirSync(target)).toEqual(['here']);
  });

  linuxTest('Linux: a link that leads elsewhere by now', async () => {
    const [one, two] = [folder(), folder()];
    const cwd = join(folder(), 'link');
    symlinkSync(one, cwd);
    await warmed({ cwd });
    rmSync(cwd);
    symlinkSync(two, cwd);
    const { stdout } = await bash('pwd; pwd -P', { cwd });
    expect(stdout).toBe((await bash('pwd; pwd -P', { cwd, warm: false })).stdout);
  });

  linuxTest('Linux: gone: the error of a folder that is not there', async () => {
    const cwd = join(folder(), 'work');
    mkdirSync(cwd);
    await warmed({ cwd });
    rmdirSync(cwd);
    const error = await rejection(() => bash('echo hi', { cwd }));
    expect(error.code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect(error.message).toBe(`Working directory does not exist: ${cwd}`);
  });

  linuxTest('Linux: a file in its place', async () => {
    const cwd = join(folder(), 'work');
    mkdirSync(cwd);
    await warmed({ cwd });
    rmdirSync(cwd);
    writeFileSync(cwd, '');
    expect((await rejection(() => bash('echo hi', { cwd }))).code).toBe('ERR_BASH_CWD_NOT_DIRECTORY');
  });

  linuxTest('Linux: removed by the command before, 30 times', async () => {
    const cwd = join(folder(), 'work');
    for (let n = 0; n < 30; n++) {
      mkdirSync(cwd);
      expect((await runsWarm('rm -rf "$PWD"', { cwd, safety: 'off' })).exitCode).toBe(0);
      expect((await rejection(() => bash('echo hi', { cwd }))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    }
  });

  linuxTest('Linux: written in two ways: each command sees its own PWD', async () => {
    const real = folder();
    const link = join(folder(), 'link');
    symlinkSync(real, link);
    const shown = 'pwd; echo "$PWD"; pwd -P';
    for (const cwd of [real, link, `${real}/.`, `${real}//`, link, real]) {
      await warmUp({ cwd });
      expect((await bash(shown, { cwd })).stdout).toBe((await bash(shown, { cwd, warm: false })).stdout);
    }
  });

  linuxTest('Linux: names with spaces, newlines, quotes and bytes that are no text', async () => {
    for (const name of ['a b', 'new\nline', "quo'te", '$HOME', '-x', 'é', '*', ' ']) {
      const cwd = join(folder(), name);
      mkdirSync(cwd);
      expect((await runsWarm('pwd', { cwd })).stdout).toBe(`${cwd}\n`);
    }
  });

  linuxTest('Linux: of the next command, not of the one before', async () => {
    const [one, two] = [folder(), folder()];
    for (let n = 0; n < 20; n++) {
      await warmUp({ cwd: one });
      const cwd = n % 3 === 0 ? two : one;
      expect((await runs('pwd', { cwd })).stdout).toBe(`${cwd}\n`);
    }
  });
});
