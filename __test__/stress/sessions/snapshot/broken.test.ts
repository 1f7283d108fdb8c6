import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { home, keptIn, WITHOUT, withSnapshot } from '../../../snapshot/support.ts';
import { isRoot, mark, sleepers, timed, until } from '../../../support/index.ts';

/** The result of a command whose user has this rc file. */
async function ranWith(rc: string, command = 'echo on') {
  const path = home({ '.bashrc': rc });
  const { stdout, stderr, exitCode, notes } = await withSnapshot(command);
  return { path, ran: { stdout, stderr, exitCode, notes: notes.map((note) => note.replaceAll(path, '~')) } };
}

const without = (why: string) => ({ stdout: 'on\n', stderr: '', exitCode: 0, notes: [`${WITHOUT}${why}`] });
const with_ = (stdout: string) => ({ stdout, stderr: '', exitCode: 0, notes: [] });

describe('a broken rc file never breaks a command', () => {
  const ended = (code: number) => `~/.bashrc ended the shell that read it, or took its place (exit code ${code})`;
  test.each([
    ['it exits', 'exit 1', ended(1)],
    ['it is replaced by another shell', 'exec sh', ended(0)],
    ['it kills its shell', 'kill -9 $$', ended(137)],
    ['it ends at its first failure', 'set -e\nfalse', ended(1)],
    ['it has a syntax error', "alias a='echo A'\nif then\n", '~/.bashrc has a syntax error'],
    ['it takes the place of builtin', "builtin() { echo mine; }\nalias a='echo A'", ended(0)],
    ['it has an open quote', 'echo "\n', '~/.bashrc has a syntax error'],
  ])('%s', async (_, rc, why) => {
    expect((await ranWith(rc)).ran).toEqual(without(why));
  });

  test('a syntax error is found in a file that the login file reads, too', async () => {
    const path = home({ '.profile': '. ~/.bashrc\ntrue\n', '.bashrc': 'if then\n' });
    expect((await withSnapshot('echo on')).notes).toEqual([`${WITHOUT}${path}/.bashrc has a syntax error`]);
  });

  test('it never ends: that costs its time once', async () => {
    const { path, ran } = await ranWith('trap "" TERM\nwhile :; do :; done');
    expect(ran).toEqual(without('~/.bashrc did not end within 10 s'));
    const [again, time] = await timed(() => withSnapshot('echo on'));
    expect(again.notes).toEqual([`${WITHOUT}${path}/.bashrc did not end within 10 s`]);
    expect(time).toBeLessThan(5_000);
    expect(keptIn(join(path, '.cache'))).toEqual([]);
  });

  test('a command that is given up while it waits has not begun, and the reading goes on', async () => {
    home({ '.bashrc': "sleep 1; alias a='echo A'\n" });
    const giveUp = new AbortController();
    const waiting = withSnapshot('a', { signal: giveUp.signal });
    giveUp.abort();
    expect(await waiting).toMatchObject({ status: 'aborted', pid: 0 });
    expect((await withSnapshot('a')).stdout).toBe('A\n');
  });

  test('it is too much', async () => {
    const { ran } = await ranWith(`for i in {1..5}; do eval "f$i() { echo ${'x'.repeat(1_000_000)}; }"; done`);
    expect(ran.notes).toEqual([
      expect.stringMatching(/its functions and aliases take 50\d\d KB; at most 1 MB can be used/),
    ]);
    expect(ran.stdout).toBe('on\n');
  });

  test('it is a directory', async () => {
    const path = home({});
    mkdirSync(join(path, '.bashrc'));
    expect((await withSnapshot('echo on')).notes).toEqual([`${WITHOUT}${path}/.bashrc is a directory`]);
  });

  // Root reads everything.
  test.skipIf(isRoot)('it cannot be read', async () => {
    const path = home({});
    writeFileSync(join(path, '.bashrc'), '', { mode: 0 });
    expect((await withSnapshot('echo on')).notes[0]).toContain('.bashrc could not be read');
  });
});

describe('what rc files do besides does not show', () => {
  test.each([
    ['they print', "echo out; echo err >&2; alias a='echo A'"],
    ['they read', "read -r line; cat; alias a='echo A'"],
    ['they close their streams', "exec 0<&- 1>&- 2>&-; alias a='echo A'"],
    ['a command in them fails', "nope; false; alias a='echo A'; return 3"],
    ['they set other options', "set -xv; set -u; IFS=x; set -o posix; alias a='echo A'"],
    ['they set traps', "trap 'echo bye; sleep 60' EXIT; trap 'echo each' DEBUG; alias a='echo A'"],
    ['they change the folder', "cd /; umask 077; alias a='echo A'"],
  ])('%s', async (_, rc) => {
    expect((await ranWith(rc, 'a')).ran).toEqual(with_('A\n'));
  });

  test('their processes end with them', async () => {
    const seconds = mark();
    const { ran } = await ranWith(`sleep ${seconds} &\n(setsid sleep ${seconds} &)\nalias a='echo A'\n`, 'a');
    expect(ran).toEqual(with_('A\n'));
    await until(() => sleepers(seconds).length === 0);
  });
});
