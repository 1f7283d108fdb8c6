import { describe, expect, test } from 'vitest';
import { AFTER_LAST_LINE_MS } from '../../ts/tool/call/line-limits.ts';
import { LONGEST_LIMIT_MS, longestBackgroundMs, SHORTEST_LIMIT_MS } from '../../ts/tool/schema.ts';
import { COLS, LONGEST_WAIT_MS, ROWS, WAIT_MS } from '../../ts/tool/terminal/schema.ts';
import { count, days, facts, hours, minutes, size } from './built.ts';
import { source } from './examples.ts';

const { request, run, capture, tasks, confine } = facts;
const { modeLimitsMs, movingLimitMs } = request;

/** A number as code has it: 86_400_000. */
const literal = (value: number) => count(value).replaceAll(',', '_');
const seconds = (ms: number) => `${ms / 1000} s`;
const kinds = `\`'default'\` ${seconds(modeLimitsMs.default ?? 0)} (${seconds(movingLimitMs)}`;
const slow = `\`'slow'\` ${minutes(modeLimitsMs.slow ?? 0)}`;
const inCall = `${count(SHORTEST_LIMIT_MS)} … ${count(LONGEST_LIMIT_MS)}`;
const snapshots = request.snapshotMs.map(count);

/** The numbers in the comments of each file, by the name that the comment is about. */
const COMMENTS: Record<string, [name: string, words: string][]> = {
  'ts/schema/types.ts': [
    ['mode', kinds],
    ['mode', slow],
    ['mode', `its limit is ${hours(tasks.defaultLimitMs)}`],
  ],
  'ts/types.ts': [
    ['onOutput', `batches of at most ${size(run.batchBytes)}`],
    ['onSnapshot', `the last ${size(run.snapshotBytes)} of each stream`],
  ],
  'ts/output.ts': [
    ['Truncate', `at most ${size(capture.hardKeepBytes)} are kept`],
    ['maxBytes', `@default no limit but ${size(capture.hardKeepBytes)} `],
  ],
  'ts/confine/types.ts': [
    ['ConfineOptions', `A list has at most ${confine.maxEntries} entries`],
    ['expose', `at most ${confine.maxExposed} whole numbers`],
  ],
  'ts/registry/types.ts': [
    ['maxTasks', `@default ${tasks.maxTasks} `],
    ['maxLogBytes', `@default ${literal(tasks.maxLogBytes)} (${size(tasks.maxLogBytes)})`],
    ['retentionMs', `@default ${literal(tasks.retentionMs)} (${days(tasks.retentionMs)})`],
  ],
  'ts/tool/types.ts': [
    ['BashToolSnapshot', `the last ${size(run.snapshotBytes)} of each stream`],
    ['mode', kinds],
    ['mode', slow],
    ['timeout_ms', `clamped to ${inCall} (in the background … ${count(longestBackgroundMs())})`],
    ['head', `${seconds(AFTER_LAST_LINE_MS)} after this line`],
    ['updateIntervalMs', `${snapshots.join(' to ')}; others are clamped`],
    ['updateIntervalMs', `@default ${request.defaultSnapshotMs} `],
    ['terminal', `\`cols\` and \`rows\` are ${COLS} and ${ROWS} unless given`],
  ],
  'ts/tool/provider.ts': [['timeoutMs', `clamped to ${inCall} with a note`]],
  'ts/tool/terminal/types.ts': [
    ['cols', `Default ${COLS},`],
    ['rows', `Default ${ROWS},`],
    ['timeout_ms', `clamped to 1 … ${count(LONGEST_WAIT_MS)} ms. Default ${count(WAIT_MS)}.`],
  ],
};

/** The comments of a file, each with the name that follows it, on one line. */
async function commentsOf(file: string): Promise<{ name: string; text: string }[]> {
  const pattern = /\/\*\*((?:(?!\*\/).)*)\*\/\s*(?:export )?(?:readonly )?(?:interface |type )?(\w+)/gs;
  return [...(await source(file)).matchAll(pattern)].map(([, text = '', name = '']) => ({
    name,
    text: text.replace(/\s*\n\s*\* ?/g, ' ').replace(/\s+/g, ' '),
  }));
}

describe.each(Object.entries(COMMENTS))('the comments of %s', (file, rows) => {
  test.each(rows)('%s says: %s', async (name, words) => {
    const about = (await commentsOf(file)).filter((comment) => comment.name === name);
    expect(about.some(({ text }) => text.includes(words))).toBe(true);
  });
});

test('each bound and each numeric default in the comments of options is compared above', async () => {
  // The numbers of ts/schema are made from those that the addon uses.
  const files = ['ts/types.ts', 'ts/output.ts', 'ts/undo/types.ts', 'ts/registry/types.ts'];
  const bounded = (await Promise.all(files.map(commentsOf))).flatMap((comments, at) => {
    const compared = COMMENTS[files[at] ?? '']?.map(([name]) => name) ?? [];
    const numbers = comments.filter(({ text }) => /\bfrom \d[\d,]* to \d|@default \d/.test(text));
    return numbers.map(({ name }) => ({ name, isCompared: compared.includes(name) }));
  });
  expect(bounded.length).toBeGreaterThan(1);
  expect(bounded.filter(({ isCompared }) => !isCompared)).toEqual([]);
});
