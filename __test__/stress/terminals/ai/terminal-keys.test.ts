import { describe, expect, it } from 'vitest';
import { KEYS } from '../../../../ts/tool/terminal/keys.ts';
import { received, terminals } from '../../../ai/fixtures/terminal.ts';

/** The bytes that a program in raw mode reads for each key, with ESC as `^[`. */
const PLAIN: Record<string, string> = {
  Enter: '\r',
  Tab: '\t',
  Space: ' ',
  Backspace: '\x7f',
  Escape: '^[',
  Up: '^[[A',
  Down: '^[[B',
  Right: '^[[C',
  Left: '^[[D',
  Home: '^[[H',
  End: '^[[F',
  Insert: '^[[2~',
  Delete: '^[[3~',
  PageUp: '^[[5~',
  PageDown: '^[[6~',
  F1: '^[OP',
  F2: '^[OQ',
  F3: '^[OR',
  F4: '^[OS',
  F5: '^[[15~',
  F6: '^[[17~',
  F7: '^[[18~',
  F8: '^[[19~',
  F9: '^[[20~',
  F10: '^[[21~',
  F11: '^[[23~',
  F12: '^[[24~',
};

const MODIFIED: Record<string, string> = {
  'Shift-Tab': '^[[Z',
  'Alt-Tab': '^[\t',
  'Alt-Enter': '^[\r',
  'Alt-Escape': '^[^[',
  'Ctrl-Space': '\0',
  'Shift-Space': ' ',
  'Alt-Space': '^[ ',
  'Ctrl-Alt-Space': '^[\0',
  'Ctrl-Backspace': '\b',
  'Alt-Backspace': '^[\x7f',
  'Shift-Up': '^[[1;2A',
  'Alt-Down': '^[[1;3B',
  'Shift-Alt-Right': '^[[1;4C',
  'Ctrl-Left': '^[[1;5D',
  'Ctrl-Shift-Home': '^[[1;6H',
  'Ctrl-Alt-End': '^[[1;7F',
  'Ctrl-Alt-Shift-Up': '^[[1;8A',
  'Shift-F1': '^[[1;2P',
  'Ctrl-F4': '^[[1;5S',
  'Alt-F5': '^[[15;3~',
  'Ctrl-F12': '^[[24;5~',
  'Ctrl-Delete': '^[[3;5~',
  'Shift-PageUp': '^[[5;2~',
  'Ctrl-[': '^[',
  'Ctrl-\\': '\x1c',
  'Ctrl-]': '\x1d',
  'Ctrl-^': '\x1e',
  'Ctrl-_': '\x1f',
  'Ctrl-/': '\x1f',
  'Ctrl--': '\x1f',
  'Ctrl-@': '\0',
  'Ctrl-?': '\x7f',
  'Alt-x': '^[x',
  'Alt-X': '^[X',
  'Alt-Shift-x': '^[X',
  'Alt-.': '^[.',
  'Ctrl-Alt-c': '^[\x03',
  'Shift-a': 'A',
  // Single characters are keys, too.
  q: 'q',
  Q: 'Q',
  '-': '-',
  '+': '+',
  ' ': ' ',
  é: '\u00c3\u00a9',
  // Names that models and people use.
  return: '\r',
  esc: '^[',
  PGUP: '^[[5~',
  PgDn: '^[[6~',
  Del: '^[[3~',
  Ins: '^[[2~',
  ArrowLeft: '^[[D',
  'C-x': '\x18',
  'M-x': '^[x',
  '^C': '\x03',
  'Control+c': '\x03',
  'ctrl+shift+left': '^[[1;6D',
  'Meta-f': '^[f',
};

const LETTERS = Object.fromEntries(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter, index) => [`Ctrl-${letter}`, String.fromCharCode(index + 1)]),
);

/** Each key by itself, as the program read it. */
async function readKeys(names: string[], first = ''): Promise<Record<string, string>> {
  const bytes = await received(first, { keys: names.flatMap((name) => [name, '|']) });
  const read = bytes.replaceAll('\x1b', '^[').split('|');
  return Object.fromEntries(names.map((name, index) => [name, read[index] ?? 'nothing']));
}

// These tests wait most of their time.
describe.concurrent('the keys that a program receives', () => {
  it('by their names', async () => {
    const wanted = { ...PLAIN, ...MODIFIED, ...LETTERS };
    expect(await readKeys(Object.keys(wanted))).toEqual(wanted);
  });

  it('the table has no key that is not tested here', () => {
    expect(Object.keys(KEYS)).toEqual(Object.keys(PLAIN));
  });

  it('arrows, Home and End are others in application cursor mode, and only without modifiers', async () => {
    const wanted = {
      Up: '^[OA',
      Down: '^[OB',
      Right: '^[OC',
      Left: '^[OD',
      Home: '^[OH',
      End: '^[OF',
      'Ctrl-Up': '^[[1;5A',
      Delete: '^[[3~',
      F1: '^[OP',
    };
    expect(await readKeys(Object.keys(wanted), '\x1b[?1h')).toEqual(wanted);
  });

  it.each([
    ['\x1b[?1h\x1b[?1l', '^[[A'],
    ['\x1b[?25;1;7h', '^[OA'],
    ['\x1b[?1h\x1bc', '^[[A'],
    ['\x1b[?1h\x1b[!p', '^[[A'],
    ['\x1b[1h', '^[[A'],
    ['\x1b[?11h', '^[[A'],
  ])('the mode is followed through %j', async (first, up) => {
    expect(await readKeys(['Up'], first)).toEqual({ Up: up });
  });

  it('one string of names will do', async () => {
    expect(await received('', { keys: 'Up  Ctrl-A x' }, { keys: ' ' })).toBe('\x1b[A\x01x ');
  });

  it('text is sent first, then the paste, then keys', async () => {
    expect(await received('', { keys: ['Enter'], paste: 'b', text: 'a' })).toBe('ab\r');
  });

  it('the end of a line in text is Enter', async () => {
    expect(await received('', { text: 'a\nb\r\nc\r' })).toBe('a\rb\rc\r');
  });
});

describe.concurrent('pasted text', () => {
  it('is marked where the program has asked for that', async () => {
    expect(await received('\x1b[?2004h', { paste: 'a\nb' })).toBe('\x1b[200~a\rb\x1b[201~');
  });

  it('is typed where it has not', async () => {
    expect(await received('', { paste: 'a\nb' })).toBe('a\rb');
    expect(await received('\x1b[?2004h\x1b[?2004l', { paste: 'a' })).toBe('a');
  });

  it('cannot end its own mark', async () => {
    expect(await received('\x1b[?2004h', { paste: 'a\x1b[201~rm\n' })).toBe('\x1b[200~a[201~rm\r\x1b[201~');
  });
});

it.concurrent('an unknown key is named, and nothing is typed', async () => {
  const { see, refused } = terminals();
  await see({ action: 'start', command: 'cat' });
  for (const key of ['F13', 'Ctrl-Enter', 'Shift-Enter', 'Ctrl-1', 'Hyper-x', 'hello', '', 'Ctrl-', '\x03']) {
    const [code, error] = await refused({ action: 'send', text: 'never', keys: ['Enter', key] });
    expect(code).toBe('ERR_BASH_INVALID_ARG');
    expect(error).toMatch(`keys: a terminal has no key ${JSON.stringify(key)}`);
  }
  expect((await see({ action: 'read' })).lines).toEqual([]);
});
