import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { drip, everyByte, folder } from '../support/index.ts';

/** Prints a text through the pipe as one write, and each of its bytes as a write of its own. */
async function printed(text: string): Promise<{ whole: string; bytewise: string; listened: string }> {
  let listened = '';
  const whole = await bash('cat', { stdin: text });
  const bytewise = await bash(drip(everyByte(text)), {
    cwd: folder(),
    onOutput: (chunk) => {
      listened += chunk.text;
    },
  });
  return { whole: whole.stdout, bytewise: bytewise.stdout, listened };
}

const same = (text: string) => ({ whole: text, bytewise: text, listened: text });

describe('progress lines collapse as a terminal would show them', () => {
  test("`printf '10%%\\r50%%\\r100%%\\n'`", async () => {
    expect((await bash("printf '10%%\\r50%%\\r100%%\\n'")).stdout).toBe('100%\n');
  });

  test.each([
    ['the last of many', 'a 1\ra 2\ra 3\n', 'a 3\n'],
    ['a shorter one leaves the rest of the longer', 'abcdef\rxy\n', 'xycdef\n'],
    ['unless it erases it', 'abcdef\r\x1b[Kxy\n', 'xy\n'],
    ['erase to the end from the middle', 'abcdef\rxy\x1b[0K\n', 'xy\n'],
    ['erase the whole line', 'abcdef\x1b[2K\rxy\n', 'xy\n'],
    ['a return at the end changes nothing', 'abc\r', 'abc'],
    ['several returns', 'abc\r\r\rx\n', 'xbc\n'],
    ['lines before and after', 'one\n10%\r20%\nthree\n', 'one\n20%\nthree\n'],
    ['wide characters', '進捗\r完了\n', '完了\n'],
    ['colour in between', '\x1b[32m10%\x1b[0m\r\x1b[32m99%\x1b[0m\n', '99%\n'],
  ])('%s', async (_, text, expected) => {
    expect(await printed(text)).toEqual(same(expected));
  });

  test('`keep` delivers every state', async () => {
    const { stdout } = await bash("printf '10%%\\r50%%\\r100%%\\n'", { sanitize: { progress: 'keep' } });
    expect(stdout).toMatch(/10%[\r\n]+50%[\r\n]+100%\n/);
  });
});

describe('escape sequences are gone, with the same text whatever the split', () => {
  const sequences: [string, string][] = [
    ['CSI colour', '\x1b[1;38;5;196m'],
    ['CSI with private marker', '\x1b[?2004h\x1b[?25l'],
    ['CSI with intermediate', '\x1b[0 q\x1b[!p'],
    ['CSI with colons', '\x1b[4:3m'],
    ['OSC title, BEL', '\x1b]0;a title\x07'],
    ['OSC title, ST', '\x1b]2;ein Titel — é\x1b\\'],
    ['OSC 8 link', '\x1b]8;;https://example.com/a?b=c\x1b\\'],
    ['OSC 52 clipboard', '\x1b]52;c;aGVsbG8=\x07'],
    ['OSC 133 prompt marks', '\x1b]133;A\x07\x1b]133;D;0\x1b\\'],
    ['DCS', '\x1bP1$r0m\x1b\\'],
    ['DCS sixel', '\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\'],
    ['APC', '\x1b_Gi=1,a=q;AAAA\x1b\\'],
    ['PM', '\x1b^private\x1b\\'],
    ['SOS', '\x1bXstring\x1b\\'],
    ['charset switches', '\x1b(B\x1b)0\x1b*A\x1b%G'],
    ['keypad and cursor saves', '\x1b=\x1b>\x1b7\x1b8\x1bc'],
    ['a bare `ESC \\`', '\x1b\\'],
    ['8-bit CSI', '\u009b31m'],
    ['8-bit OSC, 8-bit ST', '\u009d0;title\u009c'],
    ['8-bit OSC, BEL', '\u009d0;title\x07'],
    ['8-bit DCS', '\u0090q#0~~\u009c'],
    ['8-bit APC, PM, SOS', '\u009fa\u009c\u009eb\u009c\u0098c\u009c'],
    ['8-bit ST alone', '\u009c'],
    ['8-bit single controls', '\u0084\u0085\u008d\u0080'],
  ];

  test.each(sequences)('%s', async (_, sequence) => {
    expect(await printed(`left${sequence}right\n${sequence}${sequence}end\n`)).toEqual(same('leftright\nend\n'));
  });

  test('all of them in a row', async () => {
    const all = sequences.map(([, sequence], index) => `${index}${sequence}`).join('');
    expect(await printed(`${all}\n`)).toEqual(same(`${sequences.map((_, index) => index).join('')}\n`));
  });

  test('a sequence that never ends does not take the lines after it', async () => {
    expect((await bash("printf 'a\\x1b[31'")).stdout).toBe('a');
    expect((await bash("printf 'a\\x1b'")).stdout).toBe('a');
    expect((await bash("printf 'a\\x1b[31mb\\n'; seq 3")).stdout).toBe('ab\n1\n2\n3\n');
  });

  test('on stderr as well', async () => {
    expect((await bash("printf '\\x1b[31mred\\x1b[0m\\n' >&2")).stderr).toBe('red\n');
  });

  test('`ansi: false` keeps them', async () => {
    const { stdout } = await bash("printf '\\x1b[31mred\\x1b[0m\\n'", { sanitize: { ansi: false, progress: 'keep' } });
    expect(stdout).toBe('\x1b[31mred\x1b[0m\n');
  });
});

describe('overstrike, as `man` prints: the text once', () => {
  test.each([
    ['`a\\bb`', 'a\bb', 'b'],
    ['bold', 'N\bNA\bAM\bME\bE\n', 'NAME\n'],
    ['underlined', '_\bf_\bi_\bl_\be\n', 'file\n'],
    ['more of them than characters', 'ab\b\b\b\b\bcd\n', 'cd\n'],
    ['a spinner', '|\b/\b-\b\\\bdone\n', 'done\n'],
    ['bold in a wide alphabet', '日\b日本\b本\n', '日本\n'],
  ])('%s', async (_, text, expected) => {
    expect(await printed(text)).toEqual(same(expected));
  });
});

describe('`\\r\\n`: `\\n`', () => {
  test.each([
    ['lines of another system', 'one\r\ntwo\r\n', 'one\ntwo\n'],
    ['doubled returns', 'one\r\r\ntwo\n', 'one\ntwo\n'],
    ['empty lines', '\r\n\r\nx\r\n', '\n\nx\n'],
  ])('%s', async (_, text, expected) => {
    expect(await printed(text)).toEqual(same(expected));
  });

  test('with `keep` too', async () => {
    const { stdout } = await bash("printf 'one\\r\\ntwo\\r\\n'", { sanitize: { progress: 'keep' } });
    expect(stdout).toBe('one\ntwo\n');
  });
});

describe('control characters but tab and newline: gone', () => {
  const controls = [
    ...Array.from({ length: 32 }, (_, code) => code),
    ...Array.from({ length: 33 }, (_, n) => 0x7f + n),
  ];
  // Those that mean something: backspace, tab, newline, return, escape, and the openers of 8-bit sequences.
  const meaning = new Set([0x08, 0x09, 0x0a, 0x0d, 0x1b, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f]);
  const single = controls.filter((code) => !meaning.has(code));

  test.each(single.map((code) => [code.toString(16).padStart(2, '0'), String.fromCharCode(code)]))(
    'U+00%s',
    async (_, control) => {
      const { stdout } = await bash('cat', { stdin: `a${control}b\t${control}\nc${control}` });
      expect(stdout).toBe('ab\t\nc');
    },
  );

  test('BEL, NUL and DEL split at every byte', async () => {
    expect(await printed('\x07a\x00b\x7fc\x07\n')).toEqual(same('abc\n'));
  });
});

describe('Chinese under `LC_CTYPE=C`: intact', () => {
  test.each([{ LC_CTYPE: 'C' }, { LC_ALL: 'C' }, { LANG: 'POSIX', LC_ALL: null }])('%j', async (env) => {
    const text = '你好，世界 — καλημέρα\n';
    expect((await bash(`printf '%s\\n' '${text.trim()}'; cat`, { env, stdin: text })).stdout).toBe(text + text);
  });
});

test('`sanitize: false` changes only invalid text', async () => {
  const text = 'a\x1b[31mb\rc\bd\x07e\r\n\u009b1m\x7f\x00f';
  expect((await bash('cat', { stdin: text, sanitize: false })).stdout.replace('\x00', '')).toBe(
    text.replace('\x00', ''),
  );
});
