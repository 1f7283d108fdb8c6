import { bash, openDraft } from 'agent-bash';
import { expect } from 'vitest';
import { rejection, until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

const MIB = 1024 ** 2;

/** Writes files of 64 KiB, and never ends. */
const GROW = 'while :; do : $((n++)); head -c 65536 /dev/zero >f$n; done';

draftTest('a command that takes more than maxBytes is ended, and no further one begins', async () => {
  const { open } = project();
  const draft = await open({ maxBytes: 4 * MIB });
  const { notes, ...ended } = await bash(GROW, { draft, timeoutMs: 60_000 });
  expect(ended).toMatchObject({ status: 'signaled', signal: 'SIGKILL', draft: draft.id });
  expect(notes.join()).toMatch(
    /^maxBytes: the draft holds [\d.]+ MiB, over its limit of 4 MiB; the command's processes were/,
  );
  const refused = await until(
    () =>
      bash('true', { draft }).then(
        () => undefined,
        (error) => error,
      ),
    'the refusal',
  );
  expect(refused).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'space' });
  expect(refused.message).toContain('over its maxBytes of 4 MiB');
  // Its changes can be read, and a commit makes room for the next command.
  const { bytes } = await draft.changes({ list: 0 });
  expect(bytes).toBeGreaterThan(4 * MIB);
  const { created } = await draft.changes({ list: 10_000 });
  await draft.commit({ paths: created.slice(1).map(({ path }) => path) });
  expect((await bash('ls', { draft })).exitCode).toBe(0);
  expect((await draft.changes()).counts.created).toBe(1);
});

draftTest('a task that takes more than maxBytes is ended', async () => {
  const { open } = project();
  const draft = await open({ maxBytes: 4 * MIB });
  const { background } = await bash(GROW, { draft, mode: 'background' });
  expect(background).toBeTruthy();
  await until(async () => (await draft.changes({ list: 0 })).bytes > 4 * MIB, 'the limit');
  const end = () =>
    bash('true', { draft }).then(
      () => undefined,
      (error) => error,
    );
  expect(await until(end, 'the refusal')).toMatchObject({ reason: 'space' });
  await until(
    () =>
      draft.discard().then(
        () => true,
        () => undefined,
      ),
    'the end of the task',
  );
});

draftTest('a single file cannot be larger than maxBytes', async () => {
  const { open } = project();
  const draft = await open({ maxBytes: MIB });
  const { exitCode } = await bash('head -c 3M /dev/zero >big', { draft });
  expect(exitCode).not.toBe(0);
  expect((await draft.changes()).bytes).toBeLessThan(2 * MIB);
});

draftTest('a command below maxBytes is not ended, and a limit of its own holds as well', async () => {
  const { open } = project();
  const draft = await open({ maxBytes: 4 * MIB });
  const fine = await bash('head -c 1M /dev/zero >a; sleep 0.2', { draft, limits: { processes: 50 } });
  expect([fine.exitCode, fine.notes]).toEqual([0, []]);
  const own = await bash('head -c 1M /dev/zero >b', { draft, limits: { fileBytes: 1000 } });
  expect(own.exitCode).not.toBe(0);
});

draftTest.each([0, -1, 1.5, '1 GiB', null])('maxBytes %j is ERR_BASH_INVALID_ARG', async (maxBytes) => {
  const { root } = project();
  const error = await rejection(() => openDraft({ root, maxBytes: maxBytes as number }));
  expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('maxBytes') });
});
