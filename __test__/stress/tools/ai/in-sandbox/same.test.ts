import { type BashOptions, type BashRun, bash, type Truncate } from 'agent-bash';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runTool } from '../../../../ai/fixtures/call.ts';
import { localSession } from '../../../../ai/in-sandbox/places.ts';

// The output of a command is the same whether it runs here or in a sandbox: to the byte, and to every figure.

async function compared(
  command: string,
  options: Pick<BashOptions, 'truncate' | 'sanitize'>,
  sandbox = localSession(),
) {
  const here = await bash(command, { ...options, spill: false });
  const there = await runTool({ ...options, spill: false, sandbox }, command);
  const seen = ({ stdout, stderr, truncation, notes }: BashRun) => ({ stdout, stderr, truncation, notes });
  expect(seen(there)).toEqual(seen(here));
}

const POLICIES: Truncate[] = [
  { keep: 'tail', maxLines: 5 },
  { keep: 'tail', maxBytes: 30 },
  { keep: 'head', maxLines: 3 },
  { keep: 'head', maxBytes: 31 },
  { keep: 'head', maxChars: 17 },
  { keep: 'tail', maxChars: 17 },
  { keep: 'ends', maxBytes: 40, headBytes: 10, tailBytes: 13 },
];
const COMMANDS = [
  'seq 100',
  String.raw`printf '10%%\r50%%\r100%%\n\033[31mred\033[0m\a a\bb\n'; printf 'no end' >&2`,
  String.raw`printf '\342'; sleep 0.05; printf '\200\224 \360\237\230\200%.0s' 1 2 3 4 5 6 7 8 9`,
  String.raw`printf '\377\376\000\375\374 bytes\r\n'; head -c 300 /dev/zero | tr '\0' x`,
  'true',
  'seq 3 >&2; echo x',
];

it.each(COMMANDS)('%s', async (command) => {
  const sandbox = localSession();
  for (const truncate of [undefined, ...POLICIES]) {
    for (const sanitize of [true, false, { ansi: false }, { progress: 'keep' as const }]) {
      await compared(command, { truncate, sanitize }, sandbox);
    }
  }
});

it('for any output', async () => {
  const sandbox = localSession();
  const piece = fc.constantFrom('a', 'é', '😀', '\\n', '\\r', '\\t', '\\033[2J', '\\b', '\\377', 'line\\n', ' ');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.constantFrom(...POLICIES), async (pieces, truncate) => {
      await compared(`printf '${pieces.join('')}'`, { truncate }, sandbox);
    }),
    { numRuns: 40 },
  );
});

it.each([
  { keep: 'tail', maxBytes: 0 },
  { keep: 'head', maxLines: 1.5 },
  { keep: 'ends', maxBytes: 10, headBytes: 8, tailBytes: 8 },
] as Truncate[])('limits that cannot be are refused in the same words: %j', async (truncate) => {
  const refused = await bash('true', { truncate }).catch((error) => error);
  const { callTool } = await import('../../../../ai/fixtures/call.ts');
  const { output } = await callTool({ truncate, sandbox: localSession() }, 'true');
  expect(output).toEqual({ error: refused.message, code: 'ERR_BASH_INVALID_ARG' });
});
