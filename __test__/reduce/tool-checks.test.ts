import { BackgroundRegistry } from 'agent-bash';
import { type BashToolOptions, createBashTool } from 'agent-bash/ai';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../support/index.ts';
import { ask, closingOf, LONG, LONG_TEXT, linesOf } from './fixtures/conversation.ts';

const REPEATS = "printf 'waiting for the server\\n%.0s' {1..50}; echo done";

/** A tool, and the pid of a task that has ended with this command. */
async function afterwards(command: string, options: BashToolOptions) {
  const registry = new BackgroundRegistry({ dir: folder() });
  onTestFinished(() => registry.close());
  const tool = createBashTool({ ...options, registry });
  const { output } = await ask(tool, { command, mode: 'background' });
  const pid = 'pid' in output ? output.pid : 0;
  // The end is awaited without reading the output.
  const ended = new Promise<void>((resolve) => registry.on('exit', (task) => task.pid === pid && resolve()));
  if (registry.list().find((task) => task.pid === pid)?.state === 'running') await ended;
  return { tool, pid, started: output };
}

test('the output of a background process is reduced once for each check', async () => {
  const { tool, pid, started } = await afterwards(REPEATS, {});
  expect(started).toMatchObject({ status: 'backgrounded', view: null });
  const { output, text } = await ask(tool, { check_pid: pid });
  expect(output).toMatchObject({
    output: `${'waiting for the server\n'.repeat(50)}done\n`,
    view: { text: 'waiting for the server\n[x50]\ndone\n', elided: [], rules: ['repeats'] },
  });
  expect(text).toContain(
    'New output since last check (51 lines):\nwaiting for the server\n[x50]\ndone\n\nFull output: ',
  );
  expect(tool.toModelOutput({ output: JSON.parse(JSON.stringify(output)) }).value).toBe(text);
  expect((await ask(tool, { check_pid: pid })).output).toMatchObject({ output: '', view: null });
});

test('lines that a check leaves out can be recalled', async () => {
  const { tool, pid } = await afterwards(LONG, { reduce: 'salient' });
  const { output } = await ask(tool, { check_pid: pid });
  const view = 'view' in output ? output.view : null;
  const { recall, from, to } = closingOf(view?.text ?? '');
  expect((await ask(tool, { recall })).text).toBe(linesOf(LONG_TEXT, from, to));
});

test('a process that failed is shown as one', async () => {
  const { tool, pid } = await afterwards(`${LONG}; echo "fatal: no such host"; ${LONG}; exit 3`, { reduce: 'salient' });
  const { output, text } = await ask(tool, { check_pid: pid });
  expect(output).toMatchObject({ view: { class: 'red' } });
  expect(text).toContain('\nfatal: no such host\n');
});

test('with off a check is that of the registry', async () => {
  const { tool, pid } = await afterwards(REPEATS, { reduce: 'off' });
  const { output, text } = await ask(tool, { check_pid: pid });
  expect(output).not.toHaveProperty('view');
  expect(text).toContain('waiting for the server\nwaiting for the server\n');
});

test('a wrong option costs no output', async () => {
  const { pid, tool } = await afterwards(REPEATS, {
    perCall: ({ context }) => (context === 'wrong' ? { reduce: { budgetTokens: 0 } } : {}),
  });
  const wrong = await ask(tool, { check_pid: pid }, { experimental_context: 'wrong' });
  expect(wrong.output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  expect((await ask(tool, { check_pid: pid })).text).toContain('[x50]');
});
