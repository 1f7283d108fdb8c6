import { readFileSync } from 'node:fs';
import { type BashOptions, bash } from 'agent-bash';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutAt, drip, folder } from '../../../support/index.ts';

// Pieces of text and of terminal control, whole, cut off and broken.
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', 'b', 'Z', '0', ' ', '\t', 'é', '漢', '😀', '\u0301'),
      maxLength: 6,
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r', '\r\n', '\b', '\b\b', '\r\r\n', '\n\n') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '\x1b[31m',
      '\x1b[0m',
      '\x1b[K',
      '\x1b[1K',
      '\x1b[2K',
      '\x1b[?25l',
      '\x1b[10D',
      '\x1b[2A',
      '\x1b]0;title\x07',
      '\x1b]8;;http://x\x1b\\',
      '\x1b]52;c;eA==\x07',
      '\x1bP1;2q~~\x1b\\',
      '\x1b_a\x1b\\',
      '\x1b(B',
      '\x1b\\',
      '\x1bM',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\x1b', '\x1b[', '\x1b]0;open', '\x1bP', '\x1b[1;', '\x1b\x1b', '\x18', '\x1a'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u009b31m', '\u009d0;t\u009c', '\u0090q\u009c', '\u009c', '\u0085', '\u0080'),
  },
  { weight: 1, arbitrary: fc.constantFrom('\x00', '\x07', '\x7f', '\x0b', '\x0c', '\x01') },
);
const bytes = fc.oneof(
  piece.map((text) => Buffer.from(text)),
  fc
    .constantFrom('ff', 'c3', 'e282', 'f09f98', '80', 'c0af', 'eda080', 'f4908080')
    .map((hex) => Buffer.from(hex, 'hex')),
);
const output = fc.array(
  fc.oneof({ weight: 9, arbitrary: piece.map((text) => Buffer.from(text)) }, { weight: 1, arbitrary: bytes }),
  { maxLength: 25 },
);
const places = fc.array(fc.nat({ max: 400 }), { maxLength: 25 });

const modes: [string, BashOptions][] = [
  ['sanitized', {}],
  ['with `keep`', { sanitize: { progress: 'keep' } }],
  ['with its escapes', { sanitize: { ansi: false } }],
  ['unsanitized', { sanitize: false }],
];

describe('random text and escapes in random splits give the same text as one write', () => {
  test.each(modes)('%s', async (_, options) => {
    const cwd = folder();
    await fc.assert(
      fc.asyncProperty(output, places, async (parts, cuts) => {
        const stdin = Buffer.concat(parts);
        let whole = '';
        let split = '';
        const one = await bash('cat', {
          ...options,
          stdin,
          onOutput: ({ text }) => {
            whole += text;
          },
        });
        const other = await bash(drip(cutAt(stdin, cuts)), {
          ...options,
          cwd,
          onOutput: ({ text }) => {
            split += text;
          },
        });
        expect(other.stdout).toBe(one.stdout);
        expect(split).toBe(one.stdout);
        expect(whole).toBe(one.stdout);
      }),
      { numRuns: 60 },
    );
  });

  test('sanitized text holds no control but tab and newline', async () => {
    await fc.assert(
      fc.asyncProperty(output, async (parts) => {
        const { stdout } = await bash('cat', { stdin: Buffer.concat(parts) });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
        expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
      { numRuns: 100 },
    );
  });

  test('long output, truncated and written out, is the same as well', async () => {
    const cwd = folder();
    await fc.assert(
      fc.asyncProperty(output, places, fc.integer({ min: 1, max: 40 }), async (parts, cuts, maxBytes) => {
        const stdin = Buffer.concat(parts);
        const options: BashOptions = { truncate: { keep: 'tail', maxBytes }, spill: { dir: cwd } };
        const one = await bash('cat', { ...options, stdin });
        const other = await bash(drip(cutAt(stdin, cuts)), { ...options, cwd });
        const plain = await bash('cat', { stdin });
        for (const { truncation } of [one, other]) {
          expect(truncation.stdout === null).toBe(Buffer.byteLength(plain.stdout) <= maxBytes);
          if (truncation.stdout) expect(readFileSync(truncation.stdout.path ?? '', 'utf8')).toBe(plain.stdout);
        }
        const { notice: first = '', path: here, ...figures } = one.truncation.stdout ?? {};
        const { notice: second = '', path: there, ...others } = other.truncation.stdout ?? {};
        expect(others).toEqual(figures);
        expect(second.replace(there ?? '', '')).toBe(first.replace(here ?? '', ''));
      }),
      { numRuns: 40 },
    );
  });
});
