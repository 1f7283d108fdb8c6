import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { coldStarts, differences } from '../stress/differential/known.ts';
import { facts, size, time, word } from './built.ts';
import { page, spans, wrapped } from './examples.ts';

const NAME = 'shells.md';
const place = (name: string) => new RegExp(`(<!-- ${name}: [^\n]* -->\n\n)(.*?)(\n*<!-- end -->)`, 's');

const code = (script: string) => `\`${script}\``;

const expected = {
  cold: coldStarts
    .map(({ what, examples }) => wrapped(`- ${what}: ${examples.map(code).join(' · ')}`, '  '))
    .join('\n'),
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
