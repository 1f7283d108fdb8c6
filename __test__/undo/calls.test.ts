import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashError, undo, undoPoints } from 'agent-bash';
import { expect, test } from 'vitest';
import { folder, hostResult, linuxTest, rejection } from '../support/index.ts';

const NO_RUN = 'no-such-run';

test('looking for points makes no store', async () => {
  const dir = folder();
  expect(await undoPoints({ dir: join(dir, 'state', 'undo') })).toEqual([]);
  expect(await undoPoints({ dir })).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
});

test('a directory with other files is no store, and stays as it is', async () => {
  const dir = folder();
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'notes'), '');
  const calls = [() => undo(NO_RUN, { dir }), () => undoPoints({ dir })];
  for (const call of calls) {
    const message = expect.stringContaining('the store needs a directory of its own');
    expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_UNDO', message });
  }
  expect([statSync(dir).mode & 0o777, readdirSync(dir)]).toEqual([0o755, ['notes']]);
});

test('a run without a point is ERR_BASH_UNDO with the reason, and nothing is undone', async () => {
  const error = await rejection(() => undo(NO_RUN, { dir: folder() }));
  expect(error).toBeInstanceOf(BashError);
  expect(error).toMatchObject({
    code: 'ERR_BASH_UNDO',
    message: `nothing was undone: there is no undo point of run ${NO_RUN}`,
  });
});

test.each(['..', 'a/b', '../../etc', '.hidden', 'a b'])('%j is not the id of a run', async (id) => {
  const error = await rejection(() => undo(id, { dir: folder() }));
  expect(error).toMatchObject({ code: 'ERR_BASH_UNDO', message: expect.stringContaining('is not the id of a run') });
});

test('a store that is a link is ERR_BASH_UNDO', async () => {
  const base = folder();
  mkdirSync(join(base, 'real'));
  symlinkSync(join(base, 'real'), join(base, 'link'));
  for (const call of [() => undo(NO_RUN, { dir: join(base, 'link') }), () => undoPoints({ dir: join(base, 'link') })]) {
    expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_UNDO' });
  }
});

linuxTest('the store of the user is in the state directory, and private', async () => {
  const state = folder();
  const program = `
    import { undoPoints } from 'agent-bash';
    await bash('true', { cwd: ${JSON.stringify(folder())}, undo: 'always' });
    console.log(JSON.stringify((await undoPoints()).length));`;
  expect(await hostResult(program, { env: { XDG_STATE_HOME: state } })).toBe(1);
  expect(statSync(join(state, 'agent-bash', 'undo')).mode & 0o777).toBe(0o700);
});

const WRONG: [name: string, call: () => Promise<unknown>, message: string][] = [
  ['a run that is no text', () => undo(7 as never), 'runId: 7 is not the id of a run'],
  ['an empty run', () => undo(''), 'runId: "" is not the id of a run'],
  ['options that are no object', () => undo(NO_RUN, 'x' as never), 'options: "x" is not an object'],
  ['dryRun', () => undo(NO_RUN, { dryRun: 'yes' as never }), 'dryRun: "yes" is not a boolean'],
  ['paths', () => undo(NO_RUN, { paths: 'src' as never }), 'paths: "src" is not an array of at least one path'],
  ['no path', () => undo(NO_RUN, { paths: [] }), 'paths: [] is not an array of at least one path'],
  ['an empty path', () => undo(NO_RUN, { paths: ['src', ''] }), 'paths: "" is not a path'],
  ['a hole', () => undo(NO_RUN, { paths: new Array(1) }), 'paths: undefined is not a path'],
  ['dir', () => undo(NO_RUN, { dir: 'a\0b' }), 'dir: '],
  ['a directory that is no text', () => undoPoints({ cwd: 1 as never }), 'cwd: 1 is not a path'],
  ['a store that is no text', () => undoPoints({ dir: '' }), 'dir: "" is not a path'],
];

test.each(WRONG)('%s is ERR_BASH_INVALID_ARG, and a rejection', async (_, call, message) => {
  const error = await rejection(call);
  expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(message) });
});
