import { BackgroundRegistry } from 'agent-bash';
import { expect, test } from 'vitest';
import { page, source, spans, table } from './examples.ts';

const background = await page('background.md');
const types = await source('ts/types.ts');

const first = (rows: string[][]) => rows.flatMap(([cell = '']) => spans(cell));

/** The fields of an interface of ours. */
function fields(name: string): string[] {
  const declared = new RegExp(`export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(types)?.[1] ?? '';
  return [...declared.matchAll(/^ {2}(\w+)\??:/gm)].map(([, field]) => field ?? '');
}

test('the table of options has each of them', () => {
  const rows = background.slice(background.indexOf('| option | meaning | default |'));
  const options = [...rows.slice(0, rows.indexOf('\n\n')).matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(options.sort()).toEqual(fields('BackgroundRegistryOptions').sort());
});

test('the table of waits has each of its options', () => {
  const named = first(table(background, 'Waiting'));
  expect(fields('BackgroundWaitOptions').length).toBeGreaterThan(3);
  expect(fields('BackgroundWaitOptions').filter((option) => !named.includes(option))).toEqual([]);
});

test('the table of states has each of them, and the page each method', async () => {
  const declared = /state: ('[^\n]*)/.exec(await source('index.d.ts'))?.[1] ?? '';
  const states = new Set([...declared.matchAll(/'(\w+)'/g)].map(([, state]) => state));
  expect(states.size).toBe(4);
  expect(new Set(first(table(background, 'States')).filter((word) => !word.includes('(') && word !== 'kill'))).toEqual(
    states,
  );
  for (const method of Object.getOwnPropertyNames(BackgroundRegistry.prototype)) {
    if (method !== 'constructor' && method !== 'off') expect(background).toMatch(new RegExp(`\\b${method}\\b`));
  }
});

test('the closing lines are those of the source', async () => {
  const lines = table(background, 'States').flatMap((cells) => spans(cells.at(-1) ?? ''));
  expect(lines).toHaveLength(6);
  for (const line of lines) expect(line).toMatch(/^\[background process /);
});

// A number of the source, and the words of the page that speak of it.
test.each([
  ['src/napi/registry.rs', 'whole(options.max_tasks, 64)', 'is `ERR_BASH_TOO_MANY_TASKS` | 64 |'],
  ['src/napi/registry.rs', 'whole(options.max_log_bytes, 1 << 30)', 'the task goes on | 1 GiB |'],
  ['src/background/registry.rs', 'DAY: Duration = Duration::from_secs(24 * 60 * 60)', 'the limit is 24 h'],
  ['src/supervise/outflow.rs', 'QUIET: Duration = Duration::from_millis(250)', 'after 250 ms of quiet'],
  [
    'src/supervise/running.rs',
    'GRACE_WITHOUT_HOST: Duration = Duration::from_millis(500)',
    '(SIGTERM, 500 ms, SIGKILL)',
  ],
  ['src/background/pattern.rs', 'WINDOW: usize = 64 * 1024', 'reach over 64 KiB of output'],
  ['src/background/task.rs', '"the machine was restarted"', '[background process lost: the machine was restarted]'],
  [
    'src/background/task.rs',
    '"its helper process was killed"',
    '[background process lost: its helper process was killed]',
  ],
])('%s: %s', async (path, number, words) => {
  expect(await source(path)).toContain(number);
  expect(background.replace(/\s+/g, ' ')).toContain(words);
});
