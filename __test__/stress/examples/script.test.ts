import { join } from 'node:path';
import { formatCheck, formatResult } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { CHECK } from '../../ai/fixtures/call.ts';
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
    confinement: null,
    runId: 'run-1',
    receipt: null,
    undo: null,
    evidence: null,
    reused: null,
    stale: [],
    view: null,
    target: null,
    draft: null,
    notes: [],
  });
  return { command, text, ok: exitCode === 0 };
}

/** The counts of tests through a filter, which hides how they ended. */
function counted(failed: number) {
  const counts = done('npm test', `ℹ pass 1\nℹ fail ${failed}\n`);
  const hidden = "\n\n[hidden failure: «npm test 2>&1» exit code 1, behind | grep '^ℹ']";
  return { ...counts, text: `${counts.text}${failed === 0 ? '' : hidden}` };
}

const counts = counted(1);
const failing = done(
  'npm test',
  '✖ failing tests:\n\ntest at checks/other.test.mjs:12:1\n✖ adds up (0.5ms)\n  actual: 1,\n  expected: 2,\n',
  1,
  'npm warn\n',
);
const checks = done('cat', "import { sum } from '../lib/it.mjs';\n");
const source = done('cat', 'for (let n = 0; n < list.length - 1; n++) {\n}\n');

const TASK = {
  id: 't1',
  pid: 77,
  pgid: 77,
  command: 'npm run --silent dev',
  cwd: '/',
  logPath: '/logs/t1.log',
  startedAt: 1,
  state: 'running' as const,
  exitCode: null,
  signal: null,
  endedAt: null,
  target: null,
  draft: null,
};
const cart = done('cat', "import { sum } from '../lib/it.mjs';\nequal(sum([{ price: 1, n: 2 }]), 2);\n");
const passed = done('npm test', 'ok\n');
const commit = done('git commit', 'abc1234 Repair\n');
const committed = [counts, failing, cart, source, passed, done('cat', ''), passed, commit];
const started = {
  command: TASK.command,
  ok: true,
  text: `<pid>77</pid>\n\n<output_file>${TASK.logPath}</output_file>\n\n<reminder>To stop: kill -9 -77</reminder>`,
};
const checked = (state: 'running' | 'killed') => ({
  command: '',
  ok: true,
  text: formatCheck({
    ...CHECK,
    task: { ...TASK, state, signal: state === 'killed' ? 'SIGTERM' : null },
  }),
});
const address = done('until', 'http://127.0.0.1:99\n');

describe('the dev server', () => {
  test('is started, waited for, asked, looked at and stopped', () => {
    expect(repair(committed).call).toEqual({ command: 'npm run --silent dev', mode: 'background' });
    expect(repair([...committed, started])).toMatchObject({
      say: 'It is process 77. I will wait until it listens.',
      call: { command: "until grep -o 'http://.*' .address 2>/dev/null; do sleep 0.1; done", timeout_ms: 20_000 },
    });
    const asked = [...committed, started, address];
    expect(repair(asked).call.command).toContain(
      `'http://127.0.0.1:99/total?items=${encodeURIComponent('[{"price":1,"n":2}]')}'`,
    );
    const answered = [...asked, done('node', '2\n')];
    expect(repair(answered).call).toEqual({ check_pid: 77 });
    expect(repair([...answered, checked('running')])).toEqual({
      say: 'It asks 2 for it, as it should. I will stop the server.',
      call: { kill_pid: 77 },
    });
    const { say, call } = repair([...answered, checked('running'), checked('killed')]);
    expect(say).toMatch(/^Done: .* the repair is commit abc1234\.$/);
    expect(call).toBeUndefined();
  });

  test('that never listens is stopped all the same', () => {
    const silent = [...committed, started, done('until', '', 124)];
    expect(repair(silent).call).toEqual({ kill_pid: 77 });
    const { say, call } = repair([...silent, checked('killed')]);
    expect(say).toMatch(/does not listen/);
    expect(call).toBeUndefined();
  });

  test('that does not start is said so', () => {
    const { say, call } = repair([...committed, { command: '', ok: false, text: 'no bash' }]);
    expect(say).toMatch(/does not start/);
    expect(call).toBeUndefined();
  });
});

describe('the script', () => {
  test('takes names, lines and values from the output', () => {
    expect(repair([counts])).toEqual({
      say: 'grep ended with 0, but that hides exit code 1 of “npm test 2>&1”. I will look for the test that fails.',
      call: { command: "npm test 2>&1 | grep -A 40 'failing tests'", mode: 'slow' },
    });
    expect(repair([counts, failing])).toEqual({
      say: '“adds up” fails (checks/other.test.mjs, line 12): 2 was expected, 1 came out. I will read the test.',
      call: { command: 'cat checks/other.test.mjs' },
    });
    expect(repair([counts, failing, checks]).call).toEqual({ command: 'cat lib/it.mjs' });
  });

  test('writes the repair from the text that it read', () => {
    const audit = done('audit', '3 of 7 too low\n[stdout: Showing last 1 of 9 lines]', 1);
    const { say, call } = repair([counts, failing, checks, source, audit]);
    expect(say).toMatch(/^3 of 7 too low\. /);
    expect(call.command).toBe(
      "cat > lib/it.mjs <<'EOF'\nfor (let n = 0; n < list.length; n++) {\n}\nEOF\ngit diff -U0",
    );
  });

  test.each([
    ['all tests pass', [counted(0)], /nothing to repair/],
    ['the output names no test', [counts, done('npm test', 'oops\n', 1)], /does not say where/],
    ['the test imports nothing', [counts, failing, done('cat', 'nothing\n')], /cannot tell/],
    ['the source has no fault it knows', [counts, failing, checks, done('cat', 'fine\n')], /no fault that I know/],
    [
      'the repair does not help',
      [counts, failing, checks, source, done('audit', '1 wrong\n', 1), done('cat', ''), failing],
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
            output: { type: 'text', value: '(no output)' },
          },
          { type: 'tool-result', toolCallId: 'b', toolName: 'bash', output: { type: 'error-text', value: 'refused' } },
          {
            type: 'tool-result',
            toolCallId: 'c',
            toolName: 'bash',
            output: { type: 'text', value: checked('running').text },
          },
        ],
      },
    ];
    expect(historyOf(prompt)).toEqual([
      { command: 'true', text: '(no output)', ok: true },
      { command: '', text: 'refused', ok: false },
      checked('running'),
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
