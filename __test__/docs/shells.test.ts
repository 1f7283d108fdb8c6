import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { differences } from '../stress/differential/known.ts';
import { facts, size, time, word } from './built.ts';
import { page, spans, wrapped } from './examples.ts';

const NAME = 'shells.md';
const place = (name: string) => new RegExp(`(<!-- ${name}: [^\n]* -->\n\n)(.*?)(\n*<!-- end -->)`, 's');

/** What the state of a session has, with a command, a later one, and what that prints. */
const lasts = [
  ['the directory, `OLDPWD`, the stack of `pushd`', 'cd /; pushd usr', 'dirs; echo $OLDPWD', '/usr / /'],
  ['variables, with their attributes', 'x=1; declare -i n=2; readonly r=3', 'n+=2; echo $x $n $r', '1 4 3'],
  ['exported ones, and those that were unset', 'export X=1; unset HOME', "bash -c 'echo $X ${HOME-none}'", '1 none'],
  ['arrays', 'a=(1 2); declare -A m=([k]=v)', 'echo ${a[1]} ${m[k]}', '2 v'],
  ['functions', 'f() { echo $1; }; export -f f', "f x; bash -c 'f y'", 'x y'],
  ['aliases', "shopt -s expand_aliases; alias hi='echo hello'", 'hi', 'hello'],
  ['options of `set` and `shopt`', 'set -u; shopt -s nullglob', 'echo $-; echo /none*', 'huBc'],
  ['traps on signals, ERR, DEBUG and RETURN', "trap 'echo got' USR1", 'kill -USR1 $$', 'got'],
  ['the umask', 'umask 077', 'umask', '0077'],
] as const;

/** What it does not have. */
const gone = [
  ['positional parameters', 'set -- a b', 'echo $#', '0'],
  ['jobs, `$!`, `wait` for them', 'sleep 0 &', 'jobs; echo "[$!]"', '[]'],
  ['EXIT traps: they run when their command ends', "trap 'echo bye' EXIT", 'trap -p; echo none', 'none'],
  ['`$?`, `$_`, `PIPESTATUS`, `SECONDS`', 'SECONDS=100; false', 'echo $? $_ $SECONDS', '0 bash 0'],
  ['`OPTIND`, `BASH_REMATCH`', 'OPTIND=5; [[ abc =~ b ]]', 'echo "$OPTIND [$BASH_REMATCH]"', '1 []'],
  ['open descriptors', 'exec 7>/dev/null', '{ echo >&7; } 2>/dev/null; echo $?', '1'],
  ['limits of `ulimit`', 'ulimit -n 50', 'test "$(ulimit -n)" -gt 50; echo $?', '0'],
  [
    'entries of `hash` and `complete`, `enable -n`',
    'enable -n test; complete -W a f',
    'enable -n; complete; echo none',
    'none',
  ],
  ['local variables of a function that called `exit`', 'f() { local v=1; exit; }; f', 'echo ${v-none}', 'none'],
] as const;

function what(rows: readonly (readonly [string, ...string[]])[]): string {
  const text = rows.map(([row]) => row).join('; ');
  return wrapped(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

const expected = {
  lasts: what(lasts),
  gone: what(gone),
  differences: differences.map(({ what }) => wrapped(`- ${what}`, '  ')).join('\n'),
};

// After a change of the list: UPDATE_DOCS=1 npm test -- docs/shells
if (process.env.UPDATE_DOCS === '1') {
  let text = await page(NAME);
  for (const [name, part] of Object.entries(expected)) {
    text = text.replace(place(name), (_, start) => `${start}${part}\n\n<!-- end -->`);
  }
  await writeFile(join(import.meta.dirname, '../../docs', NAME), text);
}

const shells = await page(NAME);

test.each(Object.entries(expected))('the page has the list of the source: %s', (name, part) => {
  expect(place(name).exec(shells)?.[2]).toBe(part);
});

test('only sessions differ, as the page says', () => {
  expect(differences.length).toBeGreaterThan(2);
  for (const { ways } of differences) expect(ways).toEqual(['session']);
});

test.each([...lasts, ...gone])('a session: %s', async (_, first, later, prints) => {
  const session = new BashSession();
  await session.run(first);
  const { stdout } = await session.run(later);
  await session.close();
  expect(stdout.trim().split('\n').join(' ')).toBe(prints);
});

describe('what a command leaves', () => {
  test.each([
    ['x=2; exit 3', 3, 'exited', 2],
    ['x=2; set -e; false', 1, 'exited', 2],
    ['x=2; : ${none?}', 127, 'exited', 2],
    ['x=2; no-such-program', 127, 'exited', 2],
    ['x=2\nif', 2, 'exited', 2],
    ['x=2; if', 2, 'exited', 1],
    ['x=2; exec true', 0, 'exited', 1],
    ['x=2; kill -9 $$', 137, 'signaled', 1],
    ['x=2; sleep 60', 124, 'timed-out', 1],
    ['trap : USR1; x=2; false', 1, 'exited', 2],
    ['trap : USR1; x=2; exit', 0, 'exited', 1],
    ['trap : USR1; x=2; set -e; false', 1, 'exited', 1],
    ["trap : USR1; x=2; cat <<'E'\nopen", 0, 'exited', 1],
    ['x=2; : kill', 0, 'exited', 2],
  ])('%s', async (command, exitCode, status, left) => {
    const session = new BashSession({ timeoutMs: 2_000 });
    await session.run('x=1');
    expect(await session.run(command)).toMatchObject({ exitCode, status });
    expect((await session.run('echo $x')).stdout).toBe(`${left}\n`);
    await session.close();
  });

  test('is nothing with a limit on files that its state is larger than, or with another shell', async () => {
    for (const options of [{ limits: { fileBytes: 1024 } }, { shell: 'sh' }]) {
      const session = new BashSession(options);
      await session.run('x=1');
      expect((await session.run('echo "${x-none}"')).stdout).toBe('none\n');
      await session.close();
    }
  });
});

const { environment, supervise } = facts;

test.each([
  `longer than ${size(environment.warmRoomBytes)}`,
  `A process has at most ${word(supervise.warm.kept)} warm shells`,
  // A shell is dismissed at the second sweep after its last use.
  `each for ${word((2 * supervise.warm.sweepMs) / 60_000)} minutes at most`,
  `follows another within ${supervise.warm.pauseMs === 1 ? 'a millisecond' : time(supervise.warm.pauseMs)}`,
])('the page says: %s', (words) => {
  expect(shells.replace(/\s+/g, ' ')).toContain(words);
});

test('the page lists the variables with which a command starts cold', () => {
  const line = shells.split('\n').find((line) => line.startsWith('- Its environment has ')) ?? '';
  expect(environment.cold.length).toBeGreaterThan(3);
  expect(spans(line)).toEqual(environment.cold);
});
