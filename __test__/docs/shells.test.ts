import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { coldStarts, differences } from '../differential/known.ts';
import { page, source, spans } from './examples.ts';

const NAME = 'shells.md';
const place = (name: string) => new RegExp(`(<!-- ${name}: [^\n]* -->\n\n)(.*?)(\n*<!-- end -->)`, 's');

const code = (script: string) => `\`${script}\``;

const expected = {
  cold: coldStarts.map(({ what, examples }) => `- ${what}: ${examples.map(code).join(' · ')}`).join('\n'),
  differences: [
    '| what | for example | why |',
    '|---|---|---|',
    ...differences.map(
      ({ what, why, example }) => `| ${what} | ${example ? code(example).replaceAll('|', '\\|') : ''} | ${why} |`,
    ),
  ].join('\n'),
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

describe.each(['lasts', 'gone'])('%s', (name) => {
  const rows = (place(name).exec(shells)?.[2] ?? '')
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '));

  test('has rows', () => expect(rows.length).toBeGreaterThan(7));

  test.each(rows)('%s', async (_, first = '', later = '', prints = '') => {
    const session = new BashSession();
    await session.run(spans(first)[0] ?? '');
    const { stdout } = await session.run(spans(later)[0] ?? '');
    await session.close();
    expect(stdout.trim().split('\n').join(' ')).toBe(spans(prints)[0]);
  });
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

// A number of the source, and the words of the page that speak of it.
test.each([
  ['src/plan/waiting.rs', 'ROOM: usize = 8 * 1024', 'longer than 8 KiB'],
  ['src/supervise/client/idle.rs', 'KEEP: usize = 2', 'At most two shells wait in a process'],
  ['src/supervise/client/idle.rs', 'SWEEP: Duration = Duration::from_secs(150)', 'each for five minutes at most'],
  [
    'src/supervise/client/idle.rs',
    'PAUSE: Duration = Duration::from_millis(1)',
    'follows another within a millisecond',
  ],
])('%s: %s', async (path, number, words) => {
  expect(await source(path)).toContain(number);
  expect(shells.replace(/\s+/g, ' ')).toContain(words);
});

test('the variables with which a command starts cold are those of the source', async () => {
  const unfit = /UNFIT: \[&str; \d+\] = \[(.*?)\]/.exec(await source('src/plan/environment.rs'))?.[1] ?? '';
  const line = shells.split('\n').find((line) => line.startsWith('- Its environment has ')) ?? '';
  expect(unfit.match(/\w+/g)?.length).toBeGreaterThan(3);
  expect(spans(line)).toEqual(unfit.match(/\w+/g));
});
