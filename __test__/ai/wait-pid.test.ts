import { createServer } from 'node:net';
import { BackgroundRegistry } from 'agent-bash';
import type { BashToolInput } from 'agent-bash/ai';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { HANG } from '../support/index.ts';
import { callTool } from './fixtures/call.ts';

let registry: BackgroundRegistry;

beforeEach(() => {
  const made = new BackgroundRegistry();
  registry = made;
  onTestFinished(() => made.close());
});

/** Starts a command and asks the tool to wait for it. */
async function wait(command: string, input: BashToolInput, call = {}) {
  const { pid, logPath } = await registry.start(command);
  const asked = { timeout_ms: HANG, ...input, wait_pid: pid };
  const { output, text } = await callTool({ registry }, asked, call);
  return { output, text: text.replaceAll(String(pid), 'PID').replace(logPath, 'LOG') };
}

/** A port of this machine that accepts connections. */
async function openPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as { port: number }).port;
}

it('the answer to a found pattern has the output up to there', async () => {
  const { output, text } = await wait('echo starting; echo ready on 8080; sleep 60', { pattern: 'ready on \\d+' });
  expect(text).toBe(
    '[Process PID still running: its new output matches /ready on \\d+/.\n\nNew output since last check (2 lines):\nstarting\nready on 8080\n\nFull output: LOG]',
  );
  expect(output).toMatchObject({
    matched: true,
    waited: { end: 'found', port: null, pattern: 'ready on \\d+', timeoutMs: HANG },
  });
  expect(JSON.parse(JSON.stringify(output))).toEqual(output);
});

it('a port is found as soon as it accepts connections', async () => {
  const port = await openPort();
  const { text } = await wait('sleep 60', { port });
  expect(text).toContain(`[Process PID still running: port ${port} accepts connections.`);
});

it('a process that ends before its port is open ends the wait', async () => {
  const { output, text } = await wait('echo no config; exit 3', { port: 1, pattern: 'ready' });
  expect(text).toBe(
    '[Process PID exited with code 3 before port 1 accepted connections or its new output matched /ready/.\n\nNew output since last check (1 lines):\nno config\n\nFull output: LOG]',
  );
  expect(output).toMatchObject({ waited: { end: 'ended' } });
});

it('without port and pattern the end of the process ends the wait', async () => {
  const { text } = await wait('echo built', {});
  expect(text).toMatch(/^\[Process PID exited with code 0\.\n\nNew output since last check \(1 lines\):\nbuilt\n/);
});

it('a wait that reaches its limit says what was missing', async () => {
  const { output, text } = await wait('echo starting; sleep 60', { pattern: 'ready', timeout_ms: 1 });
  expect(text).toMatch(/^\[Process PID still running: 1 s passed before its new output matched \/ready\/\.\n/);
  expect(output).toMatchObject({ matched: false, waited: { end: 'timed-out', timeoutMs: 1_000 } });
  const { text: plain } = await wait('sleep 60', { timeout_ms: 1 });
  expect(plain).toMatch(/^\[Process PID still running: 1 s passed\.\n/);
});

it('an abort ends the wait, and the process goes on', async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  const { output, text } = await wait('sleep 60', { port: 1 }, { abortSignal: abort.signal });
  expect(text).toContain('[Process PID still running: the wait was interrupted before port 1 accepted connections.');
  expect(output).toMatchObject({ task: { state: 'running' }, waited: { end: 'aborted' } });
});

it('a faulty pattern and an unknown process are errors', async () => {
  expect((await wait('sleep 60', { pattern: '(' })).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  const unknown = await callTool({ registry }, { wait_pid: 999_999_999 });
  expect(unknown.output).toMatchObject({ code: 'ERR_BASH_UNKNOWN_TASK' });
});

it('port and pattern of a command are ignored with a note', async () => {
  const { output } = await callTool({ registry }, { command: 'true', port: 3000, pattern: 'ready' });
  const notes = ['ignored input: port (it goes with wait_pid), pattern (it goes with wait_pid)'];
  expect(output).toMatchObject({ notes });
});

it.runIf(process.platform === 'linux')(
  'a server of another process is named, one of the process itself is not',
  async () => {
    const port = await openPort();
    const { output, text } = await wait('sleep 60', { port });
    expect(output).toMatchObject({ matched: true, stranger: { pid: process.pid } });
    expect(text).toContain(
      `still running: port ${port} accepts connections. But process ${process.pid} has the port, which this process did not start: `,
    );
    const serve = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log('at', this.address().port) })`;
    for (const start of ['node -e "$CODE"', 'setsid env -i "$(command -v node)" -e "$CODE" & sleep 60']) {
      const task = await registry.start(start, { env: { CODE: serve } });
      const { output } = await registry.wait(task, { pattern: /at \d+\n/ });
      const own = Number(/at (\d+)/.exec(output)?.[1]);
      expect(await registry.wait(task, { port: own })).toMatchObject({ matched: true, stranger: null });
    }
  },
);
