import { bash, TRUNCATE } from 'agent-bash';
import { expect, test } from 'vitest';
import { count, days, facts, minutes, share, size, time, word } from './built.ts';
import { page, source, spans, table } from './examples.ts';

const first = (rows: string[][]) => rows.flatMap(([cell = '']) => spans(cell));
const running = await page('running.md');
const output = await page('output.md');
const platforms = await page('platforms.md');
const limits = await page('limits.md');

/** The options that an interface declares itself. */
async function optionsOf(file: string, name: string): Promise<string[]> {
  const [, declared = ''] =
    new RegExp(`export interface ${name}\\b[^{]*\\{\n(.*?)^\\}`, 'ms').exec(await source(file)) ?? [];
  return [...declared.matchAll(/^ {2}(\w+)\?:/gm)].map(([, option = '']) => option);
}

test('the table of options has each of them', async () => {
  const options = (await optionsOf('ts/types.ts', 'CommandOptions')).concat(
    await optionsOf('ts/schema/types.ts', 'NativeOptions'),
  );
  expect(options.length).toBeGreaterThan(35);
  expect(first(table(running, 'Options')).sort()).toEqual(options.sort());
});

test('the tables of results have each field and each status', async () => {
  const result = await bash('seq 10000');
  expect(first(table(running, 'The result'))).toEqual(Object.keys(result));
  const types = await source('ts/result.ts');
  const declared = [...types.matchAll(/^ {2}status: (.*);/gm)].map(([, status]) => status).join();
  const statuses = [...declared.matchAll(/'([\w-]+)'/g)].map(([, status]) => status);
  expect(statuses).toHaveLength(6);
  const rows = running.slice(running.indexOf('| status | exit code |'));
  expect(statuses.filter((status) => !rows.includes(`| \`${status}\` | `))).toEqual([]);
  const cuts = output.slice(output.indexOf('| `keep` |'));
  const fields = first(
    cuts
      .slice(0, cuts.indexOf('\n\n'))
      .split('\n')
      .map((row) => row.slice(2, -2).split(' | ')),
  );
  expect(fields.sort()).toEqual(Object.keys(result.truncation.stdout ?? {}).sort());
});

test('the table of limits has each of them', async () => {
  const names = await optionsOf('ts/schema/types.ts', 'BashLimits');
  const rows = [...limits.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(names);
  expect(rows).toHaveLength(5);
});

test('the table of errors has each code', async () => {
  const codes = [...(await source('ts/errors.ts')).matchAll(/\| '(ERR_\w+)'/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(5);
  expect(first(table(running, 'Errors')).sort()).toEqual(codes.sort());
});

test('the table of platforms has each target', async () => {
  const { napi, engines } = JSON.parse(await source('package.json'));
  const rows = [...platforms.matchAll(/^\| `(\S+)` \| `(\S+)` \|/gm)].map(([, target]) => target);
  expect(rows).toEqual(napi.targets);
  expect(engines.node).toBe('>=20.17');
  expect(platforms).toContain('Node 20.17 or later');
});

const { request, run, capture, supervise } = facts;

test.each([
  [running, `${count(request.maxArgumentBytes)} bytes`],
  [running, `up to ${size(request.maxCommandBytes)}`],
  [running, `1 … ${count(request.maxLimitMs)} ms`],
  [running, `0 … ${count(request.maxGraceMs)} ms`],
  [running, `ms (${count(request.defaultGraceMs)})`],
  [running, `\`'slow'\` ${minutes(request.modeLimitsMs.slow ?? 0)}`],
  [output, `| ${size(request.defaultSpillBytes)} |`],
  [output, `| ${days(request.spillKeptMs)} |`],
  [output, `at most ${size(capture.spillsTogetherBytes)} together`],
  [running, `ms (${request.defaultSnapshotMs})`],
  [running, `${request.snapshotMs.map(count).join(' … ')} ms`],
  [running, `\`graceMs\` + ${time(run.hardBoundMs)}`],
  [output, `the last ${size(run.snapshotBytes)} of each stream`],
  [output, `at most ${size(run.batchBytes)} at a time`],
  [running, `quiet for ${time(supervise.drainIdleMs)}`],
  [running, `${time(supervise.drainWholeMs)} at most`],
  [running, `up to ${supervise.commandShownChars} characters`],
  [running, `SIGTERM, ${time(supervise.graceWithoutHostMs)}`],
  [running, `get ${time(supervise.settleMs)} first`],
  [running, `${supervise.admission.perCommand} each`],
  [running, `takes ${supervise.admission.perTask} descriptors`],
  [running, `${share(supervise.admission.perSessionShare)} of them in [sessions]`],
  [running, `${supervise.admission.reserve} are left`],
  [running, `more than ${count(supervise.admission.most)}`],
  [running, `${word(supervise.warm.kept)} shims are kept`],
  [output, `collapses up to ${size(capture.lineLimitBytes)}`],
  [output, `${size(capture.hardKeepBytes)} are the most`],
  [output, `than ${run.fewReplaced} such places`],
  [limits, `every ${supervise.limits.shortestMs} to ${time(supervise.limits.idleMs)}`],
  [limits, `${share(supervise.limits.share)} of one core at most`],
  [platforms, `at least ${facts.oomScoreAtLeast}`],
])('a page has the fact of the build %#', (text, words) => {
  expect(text.replace(/\s+/g, ' ')).toContain(words);
});

test('the default of `truncate` is the default of the core', () => {
  expect(TRUNCATE.tail).toEqual(facts.capture.truncate);
});

test('a long command sees what the table says', async () => {
  const probe = [
    'f() { echo "$0 ${BASH_SOURCE[0]} $- ${BASH_EXECUTION_STRING+set} ${FUNCNAME[*]}"; }',
    'f; [ -e /proc/$$/fd/255 ] && echo open',
    'no-such-program; set -u; echo "$no_such_variable"',
  ].join('\n');
  const [short, long] = await Promise.all([bash(probe), bash(`${probe}\n#${'-'.repeat(131_072)}`)]);
  const path = '/(?:proc/(?:\\d+|self)|dev)/fd/\\d+';
  expect(short.stdout).toBe('bash environment hBc set f\n');
  expect(long.stdout).toMatch(new RegExp(`^${path} ${path} hB  f main\n(open\n)?$`));
  expect(short.stderr).toContain('bash: line 3: no-such-program: command not found');
  expect(long.stderr).toMatch(new RegExp(`^${path}: line 3: no-such-program: command not found`));
  expect([short.exitCode, long.exitCode]).toEqual([127, 1]);
});
