import { join } from 'node:path';
import { formatResult } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { EXAMPLE } from './support.ts';

// Plain JavaScript, with types of its own that `tsc -p examples/coding-agent` checks.
const { repair } = await import(join(EXAMPLE, 'script.mjs'));
const { historyOf, scriptedModel } = await import(join(EXAMPLE, 'scripted-model.mjs'));

function done(command: string, stdout: string, exitCode = 0, stderr = '') {
  const text = formatResult({
    stdout,
    stderr,
    exitCode,
    status: 'exited',
    signal: null,
    pid: 1,
    durationMs: 1,
    timeoutMs: 1,
    truncation: { stdout: null, stderr: null },
    background: null,
    survivors: [],
    usage: { userMs: 0, systemMs: 0, maxRssBytes: 0 },
    notes: [],
  });
  return { command, text, ok: exitCode === 0 };
}

const failing = done(
  'npm test',
  '✖ failing tests:\n\ntest at checks/other.test.mjs:12:1\n✖ adds up (0.5ms)\n  actual: 1,\n  expected: 2,\n',
  1,
  'npm warn\n',
);
const checks = done('cat', "import { sum } from '../lib/it.mjs';\n");
const source = done('cat', 'for (let n = 0; n < list.length - 1; n++) {\n}\n');

describe('the script', () => {
  test('takes names, lines and values from the output', () => {
    expect(repair([failing])).toEqual({
      say: '“adds up” fails (checks/other.test.mjs, line 12): 2 was expected, 1 came out. I will read the test.',
      call: { command: 'cat checks/other.test.mjs' },
    });
    expect(repair([failing, checks]).call).toEqual({ command: 'cat lib/it.mjs' });
  });

  test('writes the repair from the text that it read', () => {
    const audit = done('audit', '3 of 7 too low\n[stdout: Showing last 1 of 9 lines]', 1);
    const { say, call } = repair([failing, checks, source, audit]);
    expect(say).toMatch(/^3 of 7 too low\. /);
    expect(call.command).toBe(
      "cat > lib/it.mjs <<'EOF'\nfor (let n = 0; n < list.length; n++) {\n}\nEOF\ngit diff -U0",
    );
  });

  test.each([
    ['all tests pass', [done('npm test', 'ok\n')], /nothing to repair/],
    ['the output names no test', [done('npm test', 'oops\n', 1)], /does not say where/],
    ['the test imports nothing', [failing, done('cat', 'nothing\n')], /cannot tell/],
    ['the source has no fault it knows', [failing, checks, done('cat', 'fine\n')], /no fault that I know/],
    [
      'the repair does not help',
      [failing, checks, source, done('audit', '1 wrong\n', 1), done('cat', ''), failing],
      /still fail/,
    ],
  ])('stops and says so when %s', (_, history, reason) => {
    const { say, call } = repair(history);
    expect(say).toMatch(reason);
    expect(call).toBeUndefined();
  });
});

describe('the model around it', () => {
  test('reads commands, texts and outcomes from a conversation', () => {
    const prompt = [
      { role: 'system', content: 'Be careful.' },
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'bash', input: { command: 'true' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'bash',
            output: { type: 'text', value: '(no output)\n\nexit code: 0' },
          },
          { type: 'tool-result', toolCallId: 'b', toolName: 'bash', output: { type: 'error-text', value: 'refused' } },
        ],
      },
    ];
    expect(historyOf(prompt)).toEqual([
      { command: 'true', text: '(no output)\n\nexit code: 0', ok: true },
      { command: '', text: 'refused', ok: false },
    ]);
  });

  test('streams its words and the call, or answers at once', async () => {
    const model = scriptedModel(() => ({ say: 'two words', call: { command: 'true' } }));
    const { stream } = await model.doStream({ prompt: [] });
    const parts = [];
    for await (const part of stream) parts.push(part);
    expect(parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)).toEqual(['two ', 'words']);
    const call = { type: 'tool-call', toolCallId: 'call-0', toolName: 'bash', input: '{"command":"true"}' };
    expect(parts).toContainEqual(call);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } });
    expect((await model.doGenerate({ prompt: [] })).content).toEqual([{ type: 'text', text: 'two words' }, call]);
  });
});
