import { mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { bash, drafts, openDraft } from 'agent-bash';
import { expect, test } from 'vitest';
import { folder, linuxTest, place, rejection } from '../support/index.ts';
import { draftTest, project } from './support.ts';

const WRONG: [object, string][] = [
  [{ root: '' }, 'root'],
  [{ root: 1 }, 'root'],
  [{ name: 'x'.repeat(81) }, 'name'],
  [{ keep: 'always' }, 'keep'],
  [{ keep: { days: 0 } }, 'keep.days'],
  [{ keep: null }, 'keep'],
  [{ confine: 'workspace' }, 'confine'],
  [{ confine: { write: ['/srv'] } }, 'confine.write'],
  [{ confine: { profile: 'read-only' } }, 'confine.profile'],
  [{ confine: { tmp: 'shared' } }, 'confine.tmp'],
  [{ confine: { expose: [3000] } }, 'confine.expose'],
  [{ confine: { wirte: [] } }, 'confine'],
  [{ naem: 'x' }, 'name'],
];

linuxTest.each(WRONG)('openDraft(%j) is ERR_BASH_INVALID_ARG', async (options, says) => {
  const { root, dir } = project();
  const error = await rejection(() => openDraft({ root, ...options }));
  expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(says) });
  mkdirSync(dir, { recursive: true });
  expect(readdirSync(dir)).toEqual([]);
});

draftTest('a directory that cannot be drafted is refused with the reason', async () => {
  const { root, open } = project();
  await open();
  const refused: [string, string][] = [
    ['/', 'root of the file system'],
    [homedir(), 'your home'],
    [join(root, '..'), 'a draft of a directory in it is open'],
    [join(root, 'none'), 'No such file'],
    [join(root, 'a'), 'no directory'],
  ];
  for (const [directory, why] of refused) {
    const error = await rejection(() => openDraft({ root: directory }));
    expect(error, directory).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'root' });
    expect(error.message).toMatch(new RegExp(`${why}|holds your home`));
  }
});

draftTest('a draft of another root is unknown', async () => {
  const { open } = project();
  const { id } = await open();
  const error = await rejection(() => openDraft({ id, root: folder() }));
  expect(error).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'unknown' });
  for (const name of ['none', '..', '../x']) {
    expect(await rejection(() => openDraft({ id: name }))).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'unknown' });
  }
});

draftTest('beside a draft a command has no confinement, undo or target of its own', async () => {
  const { open } = project();
  const draft = await open();
  const { target } = await place();
  for (const options of [{ confine: 'workspace' }, { undo: { when: 'always' } }, { target }]) {
    const error = await rejection(() => bash('true', { draft, ...options } as never));
    expect(error, JSON.stringify(options)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  }
  for (const options of [{ reuse: 'verified' }, { evidence: 'tree' }]) {
    const error = await rejection(() => bash('true', { draft, ...options } as never));
    expect(error, JSON.stringify(options)).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
  }
  expect(await rejection(() => bash('true', { draft: { id: draft.id } } as never))).toMatchObject({
    code: 'ERR_BASH_INVALID_ARG',
  });
});

draftTest.each([
  ['changes', { list: -1 }],
  ['diff', { context: 1.5 }],
  ['diff', { maxBytes: 0 }],
  ['read', { side: 'left' }],
  ['commit', { paths: [] }],
  ['commit', { onConflict: 'win' }],
  ['fork', { title: 'x' }],
] as const)('Draft.%s with %j is ERR_BASH_INVALID_ARG', async (method, options) => {
  const { open } = project();
  const draft = await open();
  const call = () => (method === 'read' ? draft.read('a', options as never) : draft[method](options as never));
  expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
});

test('looking for drafts makes no store', async () => {
  const dir = folder();
  expect(await drafts({ dir: join(dir, 'drafts') })).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
  expect(await rejection(() => drafts({ wher: 1 } as never))).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
});
