import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import { Terminal } from '@xterm/headless';
import { bash } from 'agent-bash';
import { type RenderInput, renderHtml, renderText } from 'agent-bash/render';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ended, rows, shown } from '../../../render/support.ts';
import { cpuTimed } from '../../../support/index.ts';

const ESC = '\u001b';

test.each([
  ['a cursor movement', `a${ESC}[2Ab`],
  ['a title', `a${ESC}]0;title\u0007b`],
  ['a link', `a${ESC}]8;;http://evil${ESC}\\b`],
  ['the clipboard', `a${ESC}]52;c;ZXZpbA==\u009cb`],
  ['a DCS', `a${ESC}Pq#1${ESC}\\b`],
  ['an APC', `a${ESC}_Gx${ESC}\\b`],
  ['a reset', `a${ESC}cb`],
  ['a charset', `a${ESC}(0b`],
  ['8-bit CSI', 'a\u009b2Jb'],
  ['8-bit OSC', 'a\u009d0;title\u0007b'],
  ['a private mode', `a${ESC}[?1049hb`],
  ['an SGR look-alike', `a${ESC}[>4;2mb`],
  ['one with a control in its midst', `a${ESC}[3\u00071mb`],
  ['nested ones', `a${ESC}[3${ESC}[2Jb`],
  ['one that CAN ends', `a${ESC}[3\u0018b`],
  ['a lone ESC before other letters', `a${ESC}${ESC}\u0000b`],
  ['BEL, NUL, DEL, VT', 'a\u0007\u0000\u007f\u000bb'],
])('%s is gone', (_, output) => {
  expect(shown(output)).toEqual(['ab']);
});

test('an unfinished sequence takes the rest of its line and no more', () => {
  expect(shown(`a${ESC}]0;title\nb`)).toEqual(['a', 'b']);
  expect(shown(`a${ESC}[31\nb`)).toEqual(['a', 'b']);
  expect(shown(`a${ESC}\nb`)).toEqual(['a', 'b']);
  expect(shown(`a${ESC}[日本`)).toEqual(['a日本']);
});

test('what turns or hides text is written out', () => {
  expect(shown('a\u202eb\u2066c\u200f')).toEqual(['a\\u202eb\\u2066c\\u200f']);
  expect(shown('a\u{e0041}b')).toEqual(['a\\u{e0041}b']);
  expect(shown('a\ud800b')).toEqual(['a\ufffdb']);
  expect(rows({ command: `ls\u202e ${ESC}[2K\u0007\r` })[0]).toBe('$ ls\\u202e \\u001b[2K\\u0007\\u000d');
});

test.each([
  ['10%\r50%\r100%\n', '100%'],
  ['loading…\r\u001b[Kdone\n', 'done'],
  ['loading…\u001b[2K\rdone\n', 'done'],
  ['abc\rX\n', 'Xbc'],
  ['ab\bc\n', 'ac'],
  ['N\bNA\bA\n', 'NA'],
  ['50%\r', '50%'],
  ['a\r\n', 'a'],
  ['\u001b[32m10%\r\u001b[31m9', '90%'],
  ['abc\r\tx', 'abc     x'],
  ['e\u0301x\b\bo', 'ox'],
])('%j is drawn as %j', (output, drawn) => {
  expect(shown(output)).toEqual([drawn]);
});

test('a progress line of hours is shown by its end', () => {
  expect(shown(`${Array.from({ length: 50_000 }, (_, index) => `step ${index}`).join('\r')}\n`)).toEqual([
    'step 49999',
  ]);
});

test('neither notes, names, paths nor errors can do what output cannot', () => {
  const evil = `${ESC}[2J${ESC}]0;x\u0007\u009b31m\r\u202e<b>`;
  const result = ended({
    status: 'signaled',
    signal: evil,
    notes: [evil],
    survivors: [{ pid: 1, command: evil, taskId: evil }],
    background: { logPath: evil } as never,
    truncation: { stdout: { notice: evil, path: evil } as never, stderr: null },
  });
  for (const run of [
    { command: evil, cwd: evil, result },
    { command: evil, result, output: 'x' },
    { command: evil, result: null, error: { message: evil, code: evil } },
  ]) {
    expect(renderText(run)).toMatch(OURS);
    for (const sign of ['<b>', ESC, '\u009b', '\r']) expect(renderHtml(run)).not.toContain(sign);
  }
});

/** Neither a control but the newline, nor an escape but our own SGR. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const OURS = /^(?:[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\u001b\[\d[\d;]*m)*$/;

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '\u001b[',
      '\u001b]',
      '\u001bP',
      '\u009b',
      '\u009d',
      '\u009c',
      '\u001b\\',
      '\u001b',
      '\u0007',
      '\r',
      '\b',
      '\t',
    ],
    ...[
      '\n',
      '\u0018',
      '31m',
      '38;2;1;2;3m',
      '38:5:200m',
      '0m',
      '7m',
      'K',
      '2K',
      ';',
      ':',
      '?',
      '8;;http://x',
      '\u202e',
    ],
    ...['日本', 'e\u0301', '👩‍👩‍👧', '❤️', '\ud800', '\u{e0041}', '<script>', '&amp;', '"', "'", ' ', 'text', '`'],
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const options = fc.record(
  { expanded: fc.boolean(), columns: fc.integer({ min: 2, max: 60 }), previewLines: fc.integer({ min: 0, max: 6 }) },
  { requiredKeys: ['columns'] },
);
const anyRun: fc.Arbitrary<RenderInput> = fc.oneof(
  fc.record({ command: text, cwd: text, result: fc.constant(null), output: text }),
  fc.record({
    command: text,
    result: fc.record({ stdout: text, stderr: text, notes: fc.array(text, { maxLength: 2 }) }).map(ended),
  }),
  fc.record({ command: text, result: fc.constant(null), error: fc.record({ message: text, code: text }) }),
);

test('no output has a control of its own, and no style extends beyond its row', () => {
  fc.assert(
    fc.property(anyRun, options, (run, given) => {
      const coloured = renderText(run, given);
      expect(coloured).toMatch(OURS);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes our own sequences
      const paint = /\u001b\[[\d;]+m/g;
      for (const row of coloured.split('\n')) {
        const codes = row.match(paint) ?? [];
        // Each style is ended before the next one begins.
        expect(codes.map((code) => code === '\u001b[0m')).toEqual(codes.map((_, index) => index % 2 === 1));
      }
      expect(coloured.replace(paint, '')).toBe(renderText(run, { ...given, colour: false }));
      expect(coloured).not.toMatch(/\p{Surrogate}/u);
    }),
    { numRuns: 1_000 },
  );
});

test('rows fit: a terminal of that width wraps none of them', async () => {
  const characters = fc.constantFrom(
    'a',
    'b ',
    '日',
    '本語',
    'e\u0301',
    '\t',
    '\u001b[31m',
    '\u001b[0m',
    '\n',
    'ｱ',
    '한',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(characters, { maxLength: 80 }).map((all) => all.join('')),
      fc.integer({ min: 2, max: 40 }),
      async (stdout, columns) => {
        const terminal = new Terminal({ cols: columns, rows: 400, allowProposedApi: true, convertEol: true });
        const drawn = renderText({ command: 'x', result: ended({ stdout }) }, { columns });
        await new Promise<void>((resolve) => terminal.write(drawn, resolve));
        const { cursorY } = terminal.buffer.active;
        terminal.dispose();
        expect(cursorY + 1).toBe(drawn.split('\n').length);
      },
    ),
    { numRuns: 100 },
  );
});

test('all that a command writes byte by byte stays harmless on its real way', async () => {
  const command = String.raw`for ((i = 0; i < 256; i++)); do printf "\\x$(printf %x $i)[31mx\\n"; done; printf '\e]0;t\n\e[1mb\e[0m\n'`;
  for (const sanitize of [false, { ansi: false }, { ansi: false, progress: 'keep' }, true] as const) {
    const result = await bash(command, { sanitize });
    expect(renderText({ command, result }, { expanded: true })).toMatch(OURS);
  }
});

test('16 MB of anything are shown at once', () => {
  const size = 16 << 20;
  const kinds = [
    `${'x'.repeat(79)}\n`,
    '\n',
    'x',
    `${ESC}[31mx${ESC}[32my`,
    '\r50%',
    `${ESC}[`,
    `${ESC}]`,
    `${ESC}[${'1;'.repeat(600)}`,
    '\t',
    '\r\t',
    'a\b',
    'e\u0301',
    '\u202e',
    `aaaa\r${ESC}[2K${ESC}[1K`,
    '日本語\n',
  ];
  for (const kind of kinds) {
    const stdout = kind.repeat(size / kind.length);
    const run = { command: stdout, result: ended({ stdout: `${stdout}\nend` }) };
    const [length, ms] = cpuTimed(() => renderText(run).length + renderHtml({ ...run, command: 'x' }).length);
    expect(length).toBeLessThan(1_000_000);
    // The rendering takes a tenth of a second. A quadratic algorithm would take hours.
    expect(ms, JSON.stringify(kind.slice(0, 20))).toBeLessThan(15_000);
  }
}, 300_000);

test('the functions are pure: they run where there is neither process nor Date, and nothing to import', async () => {
  const require = createRequire(import.meta.url);
  const file = require.resolve('agent-bash/render');
  const load = async (path: string): Promise<Record<string, unknown>> => {
    const source = await readFile(path, 'utf8');
    const module = { exports: {} };
    const loaded = new Map<string, unknown>();
    for (const [, name = ''] of source.matchAll(/require\("([^"]+)"\)/g)) {
      expect(name).toMatch(/^\.\//);
      loaded.set(name, await load(createRequire(path).resolve(name)));
    }
    const context = { module, exports: module.exports, require: (name: string) => loaded.get(name), Date: undefined };
    runInNewContext(source, context);
    return module.exports;
  };
  const alone = (await load(file)) as { renderText: typeof renderText; renderHtml: typeof renderHtml };
  const run: RenderInput = { command: 'x', result: ended({ stdout: `${ESC}[31mred\n` }), cwd: '/' };
  expect(alone.renderText(run)).toBe(renderText(run));
  expect(alone.renderHtml(run)).toBe(renderHtml(run));
});
