import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, BashSession, bash, undo, undoPoints } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, linuxTest } from '../support/index.ts';
import { runs, runsWarm, warmed } from './support.ts';

// A shell that waits for a recorded command has the filter that asks about changes from its start. The record begins
// when the shell gets its command.

/** A directory for commands, and a store beside it. */
function site(more: BashOptions = {}) {
  const [cwd, dir] = [folder(), join(folder(), 'undo')];
  const options: BashOptions = { cwd, undo: { when: 'always', dir }, ...more };
  return { cwd, dir, options, at: (name: string) => join(cwd, name) };
}

const points = (dir: string) => readdirSync(join(dir, 'points'));

describe.each([
  ['unconfined', {}],
  ['confined', { confine: 'workspace' }],
] as const)('a recorded command in a warm shell, %s', (_, more) => {
  linuxTest('Linux: has an exact receipt, and is undone', async () => {
    const { options, dir, at } = site(more);
    for (const name of ['changed', 'gone']) writeFileSync(at(name), name);
    const result = await runsWarm('echo new >made; echo more >>changed; rm gone', options);
    const { receipt, undo: undone, runId, exitCode } = result;
    expect([exitCode, receipt?.state, receipt?.attribution, undone?.covers]).toEqual([0, 'known', 'command', 'all']);
    const paths = [receipt?.created, receipt?.modified, receipt?.deleted].map((list) => list?.map(({ path }) => path));
    expect(paths).toEqual([[at('made')], [at('changed')], [at('gone')]]);
    expect((await undo(runId, { dir })).conflicts).toEqual([]);
    expect(['changed', 'gone'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['changed', 'gone']);
    expect(existsSync(at('made'))).toBe(false);
  });

  linuxTest('Linux: only a receipt is wanted', async () => {
    const { cwd, at } = site();
    const { receipt } = await runsWarm('echo new >made', { cwd, receipt: 'exact', ...more });
    expect([receipt?.state, receipt?.created.map(({ path }) => path)]).toEqual(['known', [at('made')]]);
  });

  linuxTest('Linux: one after another, each with a point of its own', async () => {
    const { options, dir, at } = site(more);
    const ids: string[] = [];
    for (const number of [1, 2, 3]) ids.push((await runsWarm(`echo ${number} >${number}`, options)).runId);
    expect(new Set(points(dir))).toEqual(new Set(ids));
    for (const [number, id] of [...ids.entries()].reverse()) {
      expect((await undo(id, { dir })).removed).toEqual([at(String(number + 1))]);
    }
  });
});

describe('the record of a warm shell', () => {
  linuxTest('Linux: leaves out what happens before', async () => {
    const { options, at } = site();
    await warmed(options);
    writeFileSync(at('before'), '');
    const { receipt, warm } = await runs('echo new >made', options);
    expect([warm, receipt?.created.map(({ path }) => path)]).toEqual([true, [at('made')]]);
  });

  linuxTest('Linux: is another for a command that is not recorded, and the other way round', async () => {
    const { cwd, options, at } = site();
    await warmed(options);
    expect((await runs('true', { cwd })).warm).toBe(false);
    await warmed({ cwd });
    const { receipt } = await bash('echo new >made', options);
    expect(receipt?.created.map(({ path }) => path)).toEqual([at('made')]);
  });

  linuxTest('Linux: a shell that cannot be given its command leaves no point', async () => {
    const { cwd, dir, options, at } = site();
    await warmed(options);
    rmSync(cwd, { recursive: true });
    mkdirSync(cwd);
    const { receipt, warm, runId } = await runs('echo new >made', options);
    expect([warm, receipt?.created.map(({ path }) => path)]).toEqual([false, [at('made')]]);
    expect(points(dir)).toEqual([runId]);
  });

  linuxTest('Linux: the store cannot be used: the command runs, and its result says so', async () => {
    const { cwd, dir, options, at } = site();
    await warmed(options);
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'no directory');
    const { exitCode, notes, undo: none } = await bash('echo new >made', options);
    expect([exitCode, none ?? null, readFileSync(at('made'), 'utf8')]).toEqual([0, null, 'new\n']);
    expect(notes.join()).toContain(dir);
    rmSync(dir);
    expect((await runsWarm('echo more >made', options)).undo?.covers).toBe('all');
    expect(cwd).toBe(options.cwd);
  });

  linuxTest('Linux: without a store, a required record refuses the command', async () => {
    const { dir, options, at } = site();
    const required: BashOptions = { ...options, undo: { when: 'always', dir, require: true } };
    await warmed(required);
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'no directory');
    await expect(bash('echo new >made', required)).rejects.toMatchObject({ code: 'ERR_BASH_UNDO' });
    expect(existsSync(at('made'))).toBe(false);
  });

  linuxTest('Linux: a command that is ended at its limit has what it did so far', async () => {
    const { options, at, dir } = site();
    const { receipt, runId, status } = await runsWarm('echo new >made; sleep 60', { ...options, timeoutMs: 300 });
    expect([status, receipt?.created.map(({ path }) => path)]).toEqual(['timed-out', [at('made')]]);
    expect((await undo(runId, { dir })).removed).toEqual([at('made')]);
  });

  linuxTest('Linux: commands of a session have records, too', async () => {
    const { cwd, dir, at } = site();
    await using session = new BashSession({ cwd, undo: { when: 'always', dir } });
    await session.run('here=set; echo one >one');
    const { receipt, stdout } = await session.run('echo $here; echo two >two');
    expect([stdout, receipt?.created.map(({ path }) => path)]).toEqual(['set\n', [at('two')]]);
    expect((await undoPoints({ dir })).length).toBe(2);
  });
});
