import { BashError, estimateTokens, reduceText } from 'agent-bash';
import { describe, expect, test } from 'vitest';

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** Numbers that do not count, so that their lines are no series. */
const scattered = (at: number) => (at * at * 31) % 9973;

describe('reduceText', () => {
  test('a text without anything to gain is shown as it is', () => {
    expect(reduceText('one\ntwo\n')).toEqual({
      text: 'one\ntwo\n',
      tokens: { before: estimateTokens('one\ntwo\n'), after: estimateTokens('one\ntwo\n') },
      class: 'green',
      elided: [],
      rules: [],
      id: 0,
      path: null,
    });
  });

  test('repeats are folded, and nothing is left out', () => {
    const { text, elided, rules } = reduceText(`${'waiting for the server\n'.repeat(50)}done\n`);
    expect(text).toBe('waiting for the server\n[x50]\ndone\n');
    expect(elided).toEqual([]);
    expect(rules).toEqual(['repeats']);
  });

  test('lines that count are one line, and nothing is left out', () => {
    const text = `${lines(3_000, (at) => `[${at + 1}/3000] compiling m${at + 1}.o`)}\n`;
    for (const level of ['lossless', 'salient'] as const) {
      const view = reduceText(text, { command: 'make', exitCode: 0, level });
      expect(view).toMatchObject({ text: '[[1..3000]/3000] compiling m[1..3000].o\n', elided: [], rules: ['series'] });
    }
  });

  test('contents of files stay as they are', () => {
    const text = 'let total = compute(total);\n'.repeat(200);
    expect(reduceText(text, { command: 'cat src/a.ts', level: 'salient' })).toMatchObject({ text, class: 'exact' });
  });

  test('a failure in the middle of much else is shown', () => {
    const failure = "src/a.c:3:5: error: expected ';' before '}' token";
    const text = `${lines(500, (at) => `compiled module ${scattered(at)}`)}\n${failure}\n${lines(500, (at) => `linked module ${scattered(at)}`)}\n`;
    const view = reduceText(text, { command: 'make', exitCode: 2, level: 'salient', budgetTokens: 50 });
    expect(view.class).toBe('red');
    expect(view.text).toContain(`${failure}\n`);
    expect(view.tokens.after).toBeLessThan(view.tokens.before / 4);
    for (const { stream, fromLine, toLine, why } of view.elided) {
      expect({ stream, why }).toEqual({ stream: 'stdout', why: 'budget' });
      expect(view.text).toContain(`[... L${fromLine}${toLine > fromLine ? `-${toLine}` : ''}]`);
    }
  });

  test('both streams have their labels, and markers count through them', () => {
    const stdout = `${lines(300, (at) => `${scattered(at)} targets are built for this project`)}\n`;
    const stderr = `${lines(300, (at) => `${scattered(at)} options are old and may go away`)}\n`;
    const { text, elided } = reduceText(stdout, { stderr, level: 'salient', budgetTokens: 200 });
    expect(text).toMatch(/^stdout:\n/);
    expect(text).toContain('\nstderr:\n');
    const gap = elided.find(({ stream }) => stream === 'stderr');
    expect(gap).toBeDefined();
    expect(text).toContain(`[... stderr L${300 + (gap?.fromLine ?? 0)}-`);
  });

  test('lines that the caller keeps are shown', () => {
    const text = `${lines(500, (at) => (at === 200 ? 'checksum abc' : at === 300 ? 'deployed to host 7' : `step ${scattered(at)} of the work`))}\n`;
    const options = { level: 'salient', budgetTokens: 50 } as const;
    expect(reduceText(text, options).text).not.toContain('checksum');
    const kept = reduceText(text, { ...options, keep: ['checksum', /^DEPLOYED to/i] });
    expect(kept.text).toContain('checksum abc\n');
    expect(kept.text).toContain('deployed to host 7\n');
  });

  test('a rule leaves out the passed tests of its tool, and can be turned off', () => {
    const text = `running 100 tests\n${lines(100, (at) => `test orders::tests::number_${scattered(at)} ... ok`)}\n\ntest result: ok. 100 passed; 0 failed\n`;
    const options = { command: 'cargo test', exitCode: 0, level: 'salient', budgetTokens: 5_000 } as const;
    const view = reduceText(text, options);
    expect(view.rules).toContain('cargo-test');
    expect(view.text).toContain('test result: ok. 100 passed; 0 failed\n');
    expect(view.tokens.after).toBeLessThan(view.tokens.before / 2);
    expect(reduceText(text, { ...options, rules: false }).rules).not.toContain('cargo-test');
  });

  test('a view survives JSON, and is the same each time', () => {
    const text = `${lines(400, (at) => `step ${scattered(at)} of the work`)}\n`;
    const view = reduceText(text, { level: 'salient' });
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(reduceText(text, { level: 'salient' })).toEqual(view);
  });

  test.each([
    ['text', () => reduceText(1 as never)],
    ['options.level', () => reduceText('', { level: 'some' as never })],
    ['options.budgetTokens', () => reduceText('', { budgetTokens: 0 })],
    ['options.keep', () => reduceText('', { keep: 'x' as never })],
    ['options.rules', () => reduceText('', { rules: true as never })],
    ['options.exitCode', () => reduceText('', { exitCode: 0.5 })],
    ['options.levels', () => reduceText('', { levels: 1 } as never)],
    ['text', () => estimateTokens(undefined as never)],
  ])('a wrong %s is refused by name', (name, call) => {
    expect(call).toThrow(BashError);
    expect(call).toThrow(name.replace('options.', ''));
  });
});

describe('estimateTokens', () => {
  test('words, numbers and signs have their weights', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('hello world')).toBe(2);
    expect(estimateTokens('the quick brown fox jumps over the lazy dog')).toBe(9);
    expect(estimateTokens('x'.repeat(1_000))).toBeGreaterThan(100);
  });
});
