import { bash } from 'agent-bash';
import { expect, test } from 'vitest';
import { page, source, spans, table } from './examples.ts';

const first = (rows: string[][]) => rows.flatMap(([cell = '']) => spans(cell));
const running = await page('running.md');
const output = await page('output.md');
const platforms = await page('platforms.md');
const limits = await page('limits.md');

test('the table of options has each of them', async () => {
  const declared = /export interface BashOptions \{\n(.*?)^\}/ms.exec(await source('ts/types.ts'))?.[1] ?? '';
  const options = [...declared.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
  expect(options.length).toBeGreaterThan(20);
  expect(first(table(running, 'Options')).sort()).toEqual(options.sort());
});

test('the tables of results have each field and each status', async () => {
  const result = await bash('seq 10000');
  expect(first(table(running, 'The result'))).toEqual(Object.keys(result));
  const declared = /'exited' \| 'signaled' .*/.exec(await source('index.d.ts'))?.[0] ?? '';
  const statuses = [...declared.matchAll(/'([\w-]+)'/g)].map(([, status]) => status);
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
  const declared = /export interface BashLimits \{\n(.*?)^\}/ms.exec(await source('ts/types.ts'))?.[1] ?? '';
  const names = [...declared.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
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

// A number of the source, and the words of a page that speak of it.
test.each([
  ['src/request.rs', 'MAX_ARGUMENT: usize = 131_071', running, '131,071 bytes'],
  ['src/request.rs', 'MAX_COMMAND: usize = 64 * 1024 * 1024', running, 'up to 64 MiB'],
  ['src/request.rs', 'MAX_LIMIT: f64 = 86_400_000.0', running, '1 … 86,400,000 ms'],
  ['src/request.rs', 'MAX_GRACE: f64 = 15_000.0', running, '0 … 15,000 ms'],
  ['src/request.rs', 'DEFAULT_GRACE: Duration = Duration::from_secs(2)', running, 'ms | 2,000 |'],
  ['src/request.rs', 'Duration::from_secs(15 * 60)', running, "`'slow'` 15 min"],
  ['src/request.rs', 'DEFAULT_SPILL: u64 = 1 << 30', output, '(1 GiB)'],
  ['src/request.rs', 'from_secs(7 * 24 * 60 * 60)', output, '(7 days)'],
  ['src/request.rs', 'DEFAULT_SNAPSHOT: Duration = Duration::from_millis(250)', running, 'ms | 250 |'],
  ['src/request.rs', '10.0, 60_000.0)', running, '10 … 60,000 ms'],
  ['src/run/drive.rs', 'HARD_BOUND: Duration = Duration::from_secs(1)', running, '`graceMs` + 1 s'],
  ['src/run/drive.rs', 'SNAPSHOT: usize = 8 * 1024', output, 'the last 8 KiB of each stream'],
  ['src/run/drive.rs', 'BATCH: usize = 64 * 1024', output, 'at most 64 KiB at a time'],
  ['src/supervise/drain.rs', 'IDLE: Duration = Duration::from_millis(250)', running, 'quiet for 250 ms'],
  ['src/supervise/drain.rs', 'WHOLE: Duration = Duration::from_secs(2)', running, '2 s at most'],
  ['src/supervise/shim/leftovers.rs', 'COMMAND_SHOWN: usize = 200', running, 'up to 200 characters'],
  ['src/supervise/running.rs', 'GRACE_WITHOUT_HOST: Duration = Duration::from_millis(500)', running, 'SIGTERM, 500 ms'],
  ['src/supervise/shim/leftovers.rs', 'SETTLE: Duration = Duration::from_millis(50)', running, 'get 50 ms first'],
  ['src/supervise/client/admission.rs', 'PER_COMMAND: u64 = 11', running, '11 each'],
  ['src/supervise/client/admission.rs', 'PER_SESSION: usize = 5', running, 'a fifth of them in [sessions]'],
  ['src/supervise/client/admission.rs', 'RESERVE: u64 = 48', running, '48 are left'],
  ['src/supervise/client/admission.rs', 'MOST: u64 = 1024', running, 'more than 1,024'],
  ['src/supervise/client/idle.rs', 'KEEP: usize = 2', running, 'two shims are kept'],
  ['src/capture/line.rs', 'LINE_LIMIT: usize = 64 * 1024', output, 'collapses up to 64 KiB'],
  ['src/capture/policy.rs', 'HARD_KEEP: u64 = 16 << 20', output, '16 MiB are the most'],
  ['src/outcome.rs', 'FEW_REPLACED: u64 = 3', output, 'than 3 such places'],
  ['src/supervise/limits.rs', 'FIRST: Duration = Duration::from_millis(10)', limits, '10 ms after the start'],
  ['src/supervise/limits.rs', 'USUAL: Duration = Duration::from_millis(20)', limits, 'every 20 ms'],
  ['src/supervise/limits.rs', 'NEAR: Duration = Duration::from_millis(5)', limits, 'every 5 ms once half'],
  [
    'src/supervise/limits.rs',
    'IDLE: Duration = Duration::from_millis(100)',
    limits,
    'every 100 ms while nothing happens',
  ],
  ['src/supervise/limits.rs', 'SHARE: u32 = 10', limits, 'a tenth of one core at most'],
  ['src/sys/linux.rs', 'inherited.max(500)', platforms, 'at least 500'],
  ['.github/workflows/release.yml', 'runner: ubuntu-22.04 }', platforms, 'glibc 2.35'],
])('%s: %s', async (path, number, text, words) => {
  expect(await source(path)).toContain(number);
  expect(text.replace(/\s+/g, ' ')).toContain(words);
});

test('a long command sees what the table says', async () => {
  const probe = [
    'f() { echo "$0 ${BASH_SOURCE[0]} $- ${BASH_EXECUTION_STRING+set} ${FUNCNAME[*]}"; }',
    'f; [ -e /proc/$$/fd/255 ] && echo open',
    'no-such-program; set -u; echo "$no_such_variable"',
  ].join('\n');
  const [short, long] = await Promise.all([bash(probe), bash(`${probe}\n#${'-'.repeat(131_072)}`)]);
  const path = '/(?:proc/\\d+|dev)/fd/\\d+';
  expect(short.stdout).toBe('bash environment hBc set f\n');
  expect(long.stdout).toMatch(new RegExp(`^${path} ${path} hB  f main\n(open\n)?$`));
  expect(short.stderr).toContain('bash: line 3: no-such-program: command not found');
  expect(long.stderr).toMatch(new RegExp(`^${path}: line 3: no-such-program: command not found`));
  expect([short.exitCode, long.exitCode]).toEqual([127, 1]);
});
