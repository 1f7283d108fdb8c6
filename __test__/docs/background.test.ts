import { BackgroundRegistry } from 'agent-bash';
import { expect, test } from 'vitest';
import { facts, hours, size, time } from './built.ts';
import { page, source, spans, table } from './examples.ts';

const background = await page('background.md');
const types = await source('ts/registry/types.ts');

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
  expect(lines).toHaveLength(7);
  for (const line of lines) expect(line).toMatch(/^\[background process /);
});

const { supervise, tasks } = facts;

test.each([
  `is \`ERR_BASH_TOO_MANY_TASKS\` | ${tasks.maxTasks} |`,
  `the task goes on | ${size(tasks.maxLogBytes)} |`,
  `the limit is ${hours(tasks.defaultLimitMs)}`,
  `after ${time(supervise.outflowQuietMs)} of quiet`,
  `(SIGTERM, ${time(supervise.graceWithoutHostMs)}, SIGKILL)`,
  `reach over ${size(tasks.patternWindowBytes)} of output`,
  ...tasks.lost.map((reason) => `[background process lost: ${reason}]`),
])('the page says: %s', (words) => {
  expect(background.replace(/\s+/g, ' ')).toContain(words);
});
