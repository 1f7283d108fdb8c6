import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BashError, estimateTokens, OutputStore } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { keeperOf } from '../../ts/reduce/keeping.ts';
import { folder, host, hostResult, rejection } from '../support/index.ts';

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');

const HOW = { recall: true, earlier: [] };

/** The view of an output, of which most lines are left out if the whole can be kept. */
const reduced = (store: OutputStore, stdout: string, stderr = '') =>
  keeperOf(store).view({ stdout, stderr }, { level: 'salient', budgetTokens: 50 }, HOW);

const module = (at: number) => `${at} modules are compiled in ${(at * at * 31) % 997} ms`;
const LONG = lines(400, module);

describe('the files of a store', () => {
  test('an output whose view leaves out lines is kept, byte for byte, for this user alone', async () => {
    const dir = join(folder(), 'outputs');
    const store = new OutputStore({ dir });
    const view = await reduced(store, LONG, 'a note\n');
    expect(view).toMatchObject({ id: 1, path: join(dir, '1') });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, '1')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, '1'), 'utf8')).toBe(`${LONG}a note\n`);
    expect(await store.read(1)).toBe(`${LONG}a note\n`);
    const gap = view?.elided[0];
    const closing = `[#1: 401 lines whole in ${join(dir, '1')}; recall "1:${gap?.fromLine}-${gap?.toLine}"]`;
    expect(view?.text.split('\n').at(-1)).toBe(closing);
    expect(view?.tokens.after).toBe(estimateTokens(view?.text ?? ''));
    await store.close();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('an output without anything to gain has no view, and is not kept', async () => {
    const dir = folder();
    const store = new OutputStore({ dir });
    expect(await reduced(store, 'short\n')).toBeNull();
    const folded = await reduced(store, 'the same line\n'.repeat(40));
    expect(folded).toMatchObject({ text: 'the same line\n[x40]\n', id: 0, path: null });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('nothing is left out where the file cannot be written', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'file'), '');
    const store = new OutputStore({ dir: join(dir, 'file', 'outputs') });
    expect(await reduced(store, LONG)).toBeNull();
    const folded = await reduced(store, `${LONG}${'the same line\n'.repeat(40)}`);
    expect(folded).toMatchObject({ id: 0, path: null, elided: [] });
    expect(folded?.text).toContain('the same line\n[x40]\n');
  });

  test('nothing is left out where a file is in the place of the directory', async () => {
    const dir = join(folder(), 'file');
    writeFileSync(dir, '');
    const store = new OutputStore({ dir });
    expect(await reduced(store, LONG)).toBeNull();
    store.forget();
    await store.close();
    expect(readFileSync(dir, 'utf8')).toBe('');
  });

  test('a directory that was deleted is made anew', async () => {
    for (const store of [new OutputStore({ dir: join(folder(), 'outputs') }), new OutputStore()]) {
      const dir = dirname((await reduced(store, LONG))?.path ?? '');
      rmSync(dir, { recursive: true });
      const view = await reduced(store, LONG);
      expect(view).toMatchObject({ id: 2, path: expect.stringMatching(/\/2$/) });
      expect(statSync(dirname(view?.path ?? '')).mode & 0o777).toBe(0o700);
      expect(await store.read(2)).toBe(LONG);
      expect(await rejection(() => store.read(1))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
      await store.close();
      expect(existsSync(view?.path ?? '')).toBe(false);
    }
  });

  test('a file that was replaced by a directory costs no later view, and its number is forgotten', async () => {
    const dir = folder();
    const store = new OutputStore({ dir, maxBytes: Math.ceil(LONG.length * 2.5) });
    await reduced(store, LONG);
    await reduced(store, LONG);
    rmSync(join(dir, '1'));
    mkdirSync(join(dir, '1'));
    expect(await reduced(store, LONG)).toMatchObject({ id: 3 });
    expect(await rejection(() => store.read(1))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
    rmSync(join(dir, '2'));
    mkdirSync(join(dir, '2'));
    expect(() => store.forget()).toThrow();
    expect(readdirSync(dir)).toEqual(['1', '2']);
    await store.close();
  });

  test('an output that is held while the store is closed leaves no file', async () => {
    const dir = folder();
    const store = new OutputStore({ dir });
    const held = keeperOf(store).hold(7, LONG);
    await store.close();
    expect(await held).toBeNull();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('files of an earlier process stay as they are', async () => {
    const dir = folder();
    writeFileSync(join(dir, '1'), 'of another');
    expect(await reduced(new OutputStore({ dir }), LONG)).toMatchObject({ id: 2, path: join(dir, '2') });
    expect(readFileSync(join(dir, '1'), 'utf8')).toBe('of another');
  });

  test('outputs that are kept at the same time have numbers of their own', async () => {
    const store = new OutputStore({ dir: folder() });
    const views = await Promise.all(Array.from({ length: 8 }, (_, at) => reduced(store, `${LONG}${at}\n`)));
    expect(views.map((view) => view?.id).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [at, view] of views.entries()) expect(await store.read(view?.id ?? 0)).toBe(`${LONG}${at}\n`);
  });

  test('without recall the closing line names the file alone', async () => {
    const dir = folder();
    const view = await keeperOf(new OutputStore({ dir })).view({ stdout: LONG, stderr: '' }, 'salient', {
      recall: false,
      earlier: [],
    });
    expect(view).toMatchObject({ id: 0, path: join(dir, '1') });
    expect(view?.text.split('\n').at(-1)).toBe(`[400 lines whole in ${join(dir, '1')}]`);
  });

  test('nothing is left out of an output that is larger than the store', async () => {
    const store = new OutputStore({ dir: folder(), maxBytes: 1_000 });
    expect(await reduced(store, LONG)).toBeNull();
  });

  test('the oldest outputs go first', async () => {
    const dir = folder();
    const store = new OutputStore({ dir, maxBytes: Math.ceil(LONG.length * 2.5) });
    for (let count = 0; count < 4; count++) await reduced(store, LONG);
    expect(readdirSync(dir).sort()).toEqual(['3', '4']);
    expect(await rejection(() => store.read(1))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
  });

  test('a store deletes the other files when one cannot be deleted, and says which', async () => {
    const store = new OutputStore();
    const kept = async (text: string) => (await reduced(store, text))?.path ?? '';
    const [path] = [await kept(LONG), await kept(`${LONG}more\n`)];
    rmSync(path);
    mkdirSync(path);
    const { message } = await rejection(() => store.close());
    expect(message).toContain(path);
    expect(existsSync(dirname(path))).toBe(false);
    expect(await rejection(() => store.read(2))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
  });

  test('a store that is closed leaves nothing out', async () => {
    const store = new OutputStore({ dir: folder() });
    await store.close();
    expect(await reduced(store, LONG)).toBeNull();
  });

  test('the directory of a store of ours goes with its process', async () => {
    const program = `
      import { OutputStore } from 'agent-bash';
      const outputs = new OutputStore();
      const store = outputs[Object.getOwnPropertySymbols(outputs)[0]];
      const stdout = Array.from({ length: 900 }, (_, at) => ((at * at * 31) % 9973) + ' parts are done').join('\\n');
      const { path } = await store.view({ stdout, stderr: '' }, 'salient', { recall: true, earlier: [] });
      console.log(JSON.stringify(path));`;
    const path = (await hostResult(program)) as string;
    expect(path).toMatch(/agent-bash-out-[^/]*\/1$/);
    await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(false);
  });
});

describe('a process that is killed while it writes', () => {
  /** Resolves with the directory of its store, once it is killed. */
  async function killed(before: string): Promise<string> {
    const script = host(`
      import { OutputStore } from 'agent-bash';
      ${before}
      const outputs = new OutputStore();
      const store = outputs[Object.getOwnPropertySymbols(outputs)[0]];
      const stdout = Array.from({ length: 900 }, (_, at) => ((at * at * 31) % 9973) + ' parts are done').join('\\n');
      const view = () => store.view({ stdout, stderr: '' }, 'salient', { recall: true, earlier: [] });
      console.log((await view()).path);
      for (;;) await view();`);
    const [path] = await script.says(/.*agent-bash-out-[^/]*\/1\n/);
    script.process.kill('SIGKILL');
    await script.ended();
    return dirname(path.trim());
  }

  test('leaves no directory if it ran commands', async () => {
    const dir = await killed("await bash('true');");
    await expect.poll(() => existsSync(dir), { timeout: 10_000 }).toBe(false);
  });

  test('leaves a directory to the next store if it never ran one', async () => {
    const dir = await killed('');
    const store = new OutputStore();
    const view = await reduced(store, LONG);
    expect([existsSync(dir), existsSync(view?.path ?? '')]).toEqual([false, true]);
    await store.close();
  });
});

describe('recall', () => {
  /** A store with one output. */
  async function filled(): Promise<OutputStore> {
    const store = new OutputStore({ dir: folder() });
    await reduced(store, LONG, 'first note\nsecond note\n');
    return store;
  }

  test.each([
    ['1:3-4', `${module(2)}\n${module(3)}\n`],
    ['1:400-401', `${module(399)}\nfirst note\n`],
    ['1:402-900', 'second note\n'],
    ['1:7', `${module(6)}\n`],
    ['1 /^39[89] /', `${module(398)}\n${module(399)}\n`],
    ['1:900-901', ''],
  ])('%s', async (request, expected) => {
    expect(await keeperOf(await filled()).recall(request)).toBe(expected);
  });

  test.each(['2:1-2', '1', 'all', '1:5-4', '1 /(/'])('%s is answered with an error', async (request) => {
    expect(await keeperOf(await filled()).recall(request)).toEqual({
      error: expect.any(String),
      code: request.startsWith('2:') ? 'ERR_BASH_UNKNOWN_OUTPUT' : 'ERR_BASH_INVALID_ARG',
    });
  });

  test('read gives the same lines, and refuses wrong values', async () => {
    const store = await filled();
    expect(await store.read(1, { lines: [3, 4] })).toBe(`${module(2)}\n${module(3)}\n`);
    expect(await store.read(1, { pattern: 'note' })).toBe('first note\nsecond note\n');
    for (const range of [{ lines: [4, 3] }, { lines: [0, 1] }, { pattern: 1 }, { line: 1 }]) {
      const error = await rejection(() => store.read(1, range as never));
      expect(error).toBeInstanceOf(BashError);
      expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    }
  });

  test('a long output is read in parts', async () => {
    const store = new OutputStore({ dir: folder() });
    const all = Array.from(
      { length: 40_000 },
      (_, at) => `${at + 1}: zażółć ${at % 977 === 0 ? 'rare' : 'common'} text\n`,
    );
    const whole = all.join('');
    expect((await reduced(store, whole))?.id).toBe(1);
    for (const [from, to] of [
      [1, 2],
      [7_000, 7_400],
      [39_999, 50_000],
    ] as const) {
      expect(await store.read(1, { lines: [from, to] })).toBe(all.slice(from - 1, to).join(''));
    }
    expect(await store.read(1, { pattern: 'rare' })).toBe(all.filter((line) => line.includes('rare')).join(''));
    const many = await store.read(1, { pattern: 'common' });
    expect(Buffer.byteLength(many)).toBeGreaterThan(50 * 1024 - 100);
    expect(Buffer.byteLength(many)).toBeLessThanOrEqual(50 * 1024);
    const common = all.filter((line) => line.includes('common')).join('');
    expect(common.startsWith(many)).toBe(true);
    const most = await store.read(1, { lines: [1_000, 30_000] });
    expect(Buffer.byteLength(most)).toBeGreaterThan(50 * 1024 - 100);
    expect(all.slice(999).join('').startsWith(most)).toBe(true);
  });

  test('a line that is too long to be given is not searched, and those around it are', async () => {
    const store = new OutputStore({ dir: folder() });
    const long = 'needle'.repeat(30_000);
    await reduced(store, `a needle\n${long}\nno needle\n${LONG}last needle`);
    expect(await store.read(1, { pattern: 'needle' })).toBe('a needle\nno needle\nlast needle\n');
  });

  test('a forgotten output is gone', async () => {
    const store = await filled();
    store.forget(1);
    expect(await keeperOf(store).recall('1:1-2')).toMatchObject({ error: expect.stringContaining('1') });
  });
});

describe('rules that do not pay', () => {
  const TESTS = `running 300 tests\n${lines(300, (at) => `test number_${(at * at * 31) % 9973} ... ok`)}\ntest result: ok. 300 passed; 0 failed\n`;

  /** A view without the passed tests. */
  const passed = (store: OutputStore) =>
    keeperOf(store).view(
      { stdout: TESTS, stderr: '', command: 'cargo test' },
      { level: 'salient', budgetTokens: 5_000 },
      HOW,
    );

  test('a rule is off after its second recall', async () => {
    const store = new OutputStore({ dir: folder() });
    const view = await passed(store);
    expect(keeperOf(store).off).toEqual([]);
    expect(store.stats()).toEqual([{ rule: 'cargo-test', saved: expect.any(Number), recalled: 0 }]);
    const gap = view?.elided[0];
    for (let count = 0; count < 2; count++) await keeperOf(store).recall(`1:${gap?.fromLine}-${gap?.toLine}`);
    expect(keeperOf(store).off).toEqual(['cargo-test']);
    expect((await passed(store))?.rules ?? []).not.toContain('cargo-test');
  });

  test('the budget is no rule, and never off', async () => {
    const store = new OutputStore({ dir: folder() });
    const view = await reduced(store, LONG);
    for (let count = 0; count < 3; count++) keeperOf(store).again(view?.id ?? 0);
    expect(store.stats()).toMatchObject([{ rule: 'budget' }]);
    expect(keeperOf(store).off).toEqual([]);
  });

  test('a rule is off once it saved less than its recall cost', async () => {
    const store = new OutputStore({ dir: folder() });
    keeperOf(store).again((await passed(store))?.id ?? 0);
    expect(keeperOf(store).off).toEqual(['cargo-test']);
  });
});
