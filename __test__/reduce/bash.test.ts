import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BackgroundRegistry,
  type BashOptions,
  type BashResult,
  BashSession,
  bash,
  OutputStore,
  reduceText,
  type View,
} from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { type Earlier, KEEPING, type Kept } from '../../ts/reduce/keeping.ts';
import { folder, mark, rejection } from '../support/index.ts';

/** Runs a command whose view leaves out most lines of a long output. Without recall a confined one has no such view. */
const salient = (command: string, options: BashOptions = {}) =>
  bash(command, { reduce: { level: 'salient', budgetTokens: 100 }, confine: 'off', ...options });

/** A command that prints this many different lines, and its output. */
const STEPS = (count: number) =>
  `for i in $(seq ${count}); do echo "step $i: prepared the part in $((i * i * 31 % 997)) ms"; done`;
const steps = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `step ${at + 1}: prepared the part in ${((at + 1) ** 2 * 31) % 997} ms\n`,
  ).join('');

/** A program of this name that runs a script, whose words do not tell its output. */
function program(name: string, script: string): string {
  const path = join(folder(), name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return path;
}

/** The view of a result. Fails without one. */
function viewOf({ view }: BashResult): View {
  if (!view) throw new Error('there is no view');
  return view;
}

/** The whole output of a view that names its file. */
const wholeOf = (result: BashResult) => readFileSync(viewOf(result).path ?? '', 'utf8');

describe('the view of a result', () => {
  test('without the option there is none', async () => {
    expect((await bash('yes | head -n 100')).view).toBeNull();
    expect((await bash('yes | head -n 100', { reduce: 'off' })).view).toBeNull();
  });

  test('stdout and stderr stay the same', async () => {
    const command = `${STEPS(200)}; echo done >&2`;
    const [plain, reduced] = await Promise.all([bash(command), salient(command)]);
    expect(reduced.view?.elided.length).toBeGreaterThan(0);
    expect([reduced.stdout, reduced.stderr, reduced.truncation]).toEqual([
      plain.stdout,
      plain.stderr,
      plain.truncation,
    ]);
  });

  test('lossless folds repeats and leaves nothing out', async () => {
    const { view, stdout } = await bash('yes "the same line" | head -n 100', { reduce: 'lossless' });
    expect(view).toMatchObject({ text: 'the same line\n[x100]\n', elided: [], id: 0, path: null, class: 'green' });
    expect(stdout).toBe('the same line\n'.repeat(100));
  });

  test('an output without anything to gain has none', async () => {
    expect((await bash('echo hi', { reduce: 'lossless' })).view).toBeNull();
    expect((await salient('echo hi')).view).toBeNull();
    expect((await salient('true')).view).toBeNull();
  });

  test('it is that of reduceText on the same output', async () => {
    const result = await salient(STEPS(300));
    const {
      text,
      elided,
      class: kind,
    } = reduceText(result.stdout, {
      command: STEPS(300),
      exitCode: 0,
      level: 'salient',
      budgetTokens: 100,
    });
    expect(viewOf(result)).toMatchObject({ elided, class: kind });
    expect(viewOf(result).text.startsWith(text)).toBe(true);
  });

  test('it is the same however the output is written', async () => {
    const file = join(folder(), 'log');
    writeFileSync(file, steps(4_000));
    const ways = [`cat ${file}`, `dd if=${file} bs=1000 2>/dev/null`, `dd if=${file} bs=70001 2>/dev/null`];
    const texts = await Promise.all(
      ways.map(async (way) => viewOf(await salient(program('make', way))).text.replace(/ in \/.*$/, '')),
    );
    expect(texts[0]).toContain('[4,000 lines whole');
    expect(new Set(texts).size).toBe(1);
  });

  test('it survives JSON', async () => {
    const { view } = await salient(STEPS(200));
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(Object.keys(view ?? {}).sort()).toEqual(['class', 'elided', 'id', 'path', 'rules', 'text', 'tokens']);
  });

  test('a command that failed is red, and its failure is shown', async () => {
    const failure = "src/a.c:3:5: error: expected ';' before '}' token";
    const { view, exitCode } = await salient(`${STEPS(900)}; echo "${failure}"; ${STEPS(900)}; exit 2`);
    expect([view?.class, exitCode]).toEqual(['red', 2]);
    expect(view?.text).toContain(`${failure}\n`);
    expect((await salient(`${STEPS(900)}; kill -KILL $$`)).view?.class).toBe('red');
    expect((await salient(`${STEPS(900)}; sleep ${mark()}`, { timeoutMs: 2_000 })).view?.class).toBe('red');
  });

  test('lines that the caller keeps are shown', async () => {
    const keep = ['step 500:', /^STEP 501: /i];
    const { view } = await salient(STEPS(900), { reduce: { level: 'salient', budgetTokens: 100, keep } });
    expect(view?.text).toContain('step 500: prepared the part in 319 ms\nstep 501: prepared');
  });

  test('a command that does not end in the foreground has none', async () => {
    await using registry = new BackgroundRegistry({ dir: folder() });
    const reduce = 'lossless';
    const begun = await bash('yes | head -n 100', { mode: 'background', registry, reduce });
    expect(begun).toMatchObject({ status: 'backgrounded', view: null });
    const options = { onTimeout: 'background', registry, timeoutMs: 1_000, reduce } as const;
    const moved = await bash(`yes | head -n 100; sleep ${mark()}`, options);
    expect(moved).toMatchObject({ status: 'backgrounded', view: null });
    const aborted = await bash('yes', { signal: AbortSignal.abort(), reduce });
    expect(aborted).toMatchObject({ status: 'aborted', view: null });
  });

  test.each([
    ['reduce', true],
    ['reduce', 'some'],
    ['reduce.level', { level: 'off' }],
    ['reduce.budgetTokens', { budgetTokens: 0 }],
    ['reduce.keep', { keep: [1] }],
    ['reduce.rules', { rules: true }],
    ['reduce.levels', { levels: 1 }],
  ])('a wrong %s is refused by name: %j', async (name, reduce) => {
    const error = await rejection(() => bash('true', { reduce } as never));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(name) });
  });
});

describe('the whole output', () => {
  test('is in a file for this user alone, and the view says where', async () => {
    const result = await salient(STEPS(300));
    const { path, id, text } = viewOf(result);
    expect(id).toBe(0);
    expect(text.split('\n').at(-1)).toBe(`[300 lines whole in ${path}]`);
    expect(wholeOf(result)).toBe(steps(300));
    expect(statSync(path ?? '').mode & 0o777).toBe(0o600);
  });

  test('has standard output, then standard error', async () => {
    const result = await salient(`${STEPS(300)}; printf open; { ${STEPS(300)}; } >&2`);
    expect(wholeOf(result)).toBe(`${steps(300)}open\n${steps(300)}`);
  });

  test.each([
    ['of one stream', `${STEPS(4_000)}`, steps(4_000)],
    ['of both', `${STEPS(4_000)}; printf open; { ${STEPS(3_000)}; } >&2`, `${steps(4_000)}open\n${steps(3_000)}`],
    ['beside a short one', `${STEPS(4_000)}; { ${STEPS(20)}; } >&2`, `${steps(4_000)}${steps(20)}`],
    [
      'that was cut by lines alone',
      'for i in {1..9000}; do echo $((i * i * 31 % 9973)); done',
      Array.from({ length: 9_000 }, (_, at) => `${((at + 1) ** 2 * 31) % 9973}\n`).join(''),
    ],
  ])('is there where the result has only a part %s', async (_, command, whole) => {
    const result = await salient(command, { spill: { dir: folder() } });
    expect(result.truncation.stdout).not.toBeNull();
    expect(wholeOf(result)).toBe(whole);
    expect(viewOf(result).text).toContain('[... L');
  });

  test('is no second copy of a file of ours', async () => {
    const result = await salient(STEPS(4_000), { spill: { dir: folder() } });
    expect(statSync(viewOf(result).path ?? '').ino).toBe(statSync(result.truncation.stdout?.path ?? '').ino);
  });

  test('is a copy of a file of the caller, which may be written again', async () => {
    const path = join(folder(), 'artifact');
    const spill = { allocate: () => ({ id: 'a1', path }) };
    const result = await salient(STEPS(4_000), { spill });
    writeFileSync(path, 'another');
    expect(wholeOf(result)).toBe(steps(4_000));
  });

  test('that was not written anywhere leaves the folds of the rest', async () => {
    for (const spill of [false, { dir: folder(), maxBytes: 1_000 }] as const) {
      const { view, truncation } = await salient(`${STEPS(4_000)}; yes "the same line" | head -n 200`, { spill });
      expect(truncation.stdout).not.toBeNull();
      expect(view).toMatchObject({ elided: [], id: 0, path: null });
      expect(view?.text).toContain('the same line\n[x200]\n');
    }
  });
});

describe('a caller that keeps outputs', () => {
  const keeping = (store: OutputStore, earlier: Earlier[] = [], recall = true): BashOptions & Kept => ({
    confine: 'off',
    [KEEPING]: { store, recall, earlier },
  });

  test('has a number to recall them', async () => {
    const store = new OutputStore({ dir: folder() });
    const { view } = await salient(STEPS(300), keeping(store));
    const gap = view?.elided[0];
    expect(view?.id).toBe(1);
    const closing = `[#1: 300 lines whole in ${view?.path}; recall "1:${gap?.fromLine}-${gap?.toLine}"]`;
    expect(view?.text.split('\n').at(-1)).toBe(closing);
    expect(await store.read(1, { lines: [7, 7] })).toBe('step 7: prepared the part in 522 ms\n');
  });

  test('gets whole outputs where its store cannot keep them', async () => {
    const store = new OutputStore({ dir: folder(), maxBytes: 1_000 });
    expect((await salient(STEPS(300), keeping(store))).view).toMatchObject({ elided: [], id: 0, path: null });
  });

  test('is referred to lines of earlier results', async () => {
    const store = new OutputStore({ dir: folder() });
    const list = Array.from({ length: 40 }, (_, at) => `package-${at} is at version ${at}.1\n`).join('');
    const file = join(folder(), 'list');
    writeFileSync(file, list);
    const command = program('list-packages', `cat ${file}`);
    const seen = await bash(command, { reduce: 'lossless', ...keeping(store, [{ id: 9, text: list, hidden: [] }]) });
    expect(seen.view).toMatchObject({ text: '[40 lines as in #9 L1-40]\n', elided: [{ why: 'seen' }] });
    const hidden = await bash(command, {
      reduce: 'lossless',
      ...keeping(store, [{ id: 9, text: list, hidden: [[1, 40]] }]),
    });
    expect(hidden.view?.text ?? '').not.toContain('as in #9');
  });

  test('has lines left out of confined commands only if it can recall them', async () => {
    const store = new OutputStore({ dir: folder() });
    const confine = 'read-only' as const;
    const repeats = `${STEPS(300)}; yes "the same line" | head -n 50`;
    const recalled = await salient(repeats, { ...keeping(store), confine });
    expect(recalled.view).toMatchObject({ id: 1 });
    const unread = await salient(repeats, { ...keeping(store, [], false), confine });
    expect(unread.confinement).not.toBeNull();
    expect(unread.view).toMatchObject({ elided: [], id: 0, path: null });
    expect(unread.view?.text).toContain('the same line\n[x50]\n');
  });
});

describe('a session', () => {
  test('has the option for all of its commands, and each command its own', async () => {
    await using session = new BashSession({ reduce: { level: 'salient', budgetTokens: 100 }, confine: 'off' });
    const result = await session.run(`cd /; ${STEPS(300)}`);
    expect(result.cwd).toBe('/');
    expect(wholeOf(result)).toBe(steps(300));
    expect((await session.run(STEPS(300), { reduce: 'off' })).view).toBeNull();
    const store = new OutputStore({ dir: folder() });
    const options: BashOptions & Kept = { [KEEPING]: { store, recall: true, earlier: [] } };
    expect((await session.run(STEPS(300), options)).view).toMatchObject({ id: 1 });
  });
});
