import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { registerBashTools } from 'agent-bash/mcp';
import { describe, expect, test } from 'vitest';
import { MAJORS, type Progress, textOf } from '../../../mcp/majors.ts';
import { folder, mark, settles, sleepers, until } from '../../../support/index.ts';

/** A call that was asked to tell its progress. */
function heard(): { progress: Progress[]; onprogress: (progress: Progress) => void } {
  const progress: Progress[] = [];
  return { progress, onprogress: (one) => progress.push(one) };
}

type Handler = (input: unknown, extra: unknown) => Promise<CallToolResult>;

/** Our `bash` on a server that does no more than it has to. */
function bareServer() {
  const transport: { onclose?: () => void } = {};
  const handlers = new Map<string, Handler>();
  const server = { transport, getClientCapabilities: () => undefined, listRoots: async () => ({ roots: [] }) };
  registerBashTools({ registerTool: (name, _config, handler) => handlers.set(name, handler), server });
  return { transport, bash: handlers.get('bash') as Handler };
}

test('an SDK that lets its calls go on when the connection closes does not keep them', async () => {
  const { transport, bash } = bareServer();
  let closed = 0;
  transport.onclose = () => {
    closed += 1;
  };
  const seconds = mark();
  const never = new AbortController().signal;
  const answers = [1, 2].map((requestId) =>
    bash({ command: `sleep ${seconds}` }, { requestId, signal: never, sendNotification: async () => {} }),
  );
  await until(() => sleepers(seconds).length === 2);
  transport.onclose();
  for (const answer of answers) expect((await settles(answer)).structuredContent).toMatchObject({ status: 'aborted' });
  expect(closed).toBe(1);
});

test('progress that the client does not read keeps no finished call', async () => {
  const { bash } = bareServer();
  const ending = new AbortController();
  let sent = 0;
  const sendNotification = () => {
    sent += 1;
    return new Promise<void>(() => {});
  };
  const extra = { requestId: 1, signal: ending.signal, _meta: { progressToken: 0 }, sendNotification };
  const answer = bash({ command: 'while :; do echo more; sleep .05; done' }, extra);
  await until(() => sent > 0);
  ending.abort();
  expect((await settles(answer)).structuredContent).toMatchObject({ status: 'aborted' });
  expect(sent).toBe(1);
});

describe.each(MAJORS)('with the SDK $major', ({ connect }) => {
  test('progress grows, and shows the end of the output', async () => {
    const { call } = await connect({ updateIntervalMs: 20 });
    const { progress, onprogress } = heard();
    const command = 'for i in 1 2 3 4; do echo "line $i"; echo "word $i" >&2; sleep .2; done';
    expect(textOf(await call('bash', { command }, { onprogress }))).toContain('line 4\n');
    expect(progress.length).toBeGreaterThan(2);
    const numbers = progress.map((one) => one.progress);
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
    // Either of two streams may be read first.
    expect(progress[0]?.message).toMatch(/(line|word) 1/);
    const last = progress.at(-1)?.message;
    for (const text of ['line 1\n', 'word 1\n', 'line 3', 'word 3']) expect(last).toContain(text);
  });

  test('a message is short, whatever a command writes, and cuts no character', async () => {
    const { call } = await connect({ updateIntervalMs: 20 });
    const { progress, onprogress } = heard();
    const command = `yes "$(printf '🙂%.0s' {1..4001})" | head -n 400; sleep .5`;
    const answer = await call('bash', { command }, { onprogress });
    expect(textOf(answer)).toMatch(/^🙂/);
    expect(progress.length).toBeGreaterThan(0);
    for (const { message = '' } of progress) {
      expect(message.length).toBeLessThanOrEqual(4_096);
      expect(Buffer.from(message).toString()).toBe(message);
    }
  });

  test('a silent command is reported too', { timeout: 30_000 }, async () => {
    const { call } = await connect();
    const { progress, onprogress } = heard();
    await call('bash', { command: 'sleep 5.5' }, { onprogress });
    expect(progress).toEqual([{ progress: expect.any(Number) }]);
    expect(progress[0]?.progress).toBeGreaterThanOrEqual(4_990);
  });

  test('with no updates wanted there are none', async () => {
    const { call } = await connect({ updateIntervalMs: 0 });
    const { progress, onprogress } = heard();
    await call('bash', { command: 'echo one; sleep .5; echo two' }, { onprogress });
    expect(progress).toEqual([]);
  });

  test('a call that is cancelled ends the tree', async () => {
    const { call } = await connect();
    const seconds = mark();
    const ending = new AbortController();
    const answer = call(
      'bash',
      { command: `setsid sleep ${seconds} & sleep ${seconds}` },
      { signal: ending.signal },
    ).catch((error) => error);
    await until(() => sleepers(seconds).length === 2);
    ending.abort();
    expect(await settles(answer)).toBeInstanceOf(Error);
    await until(() => sleepers(seconds).length === 0);
    // The connection goes on.
    expect(textOf(await call('bash', { command: 'echo still here' }))).toContain('still here');
  });

  test('only the call that is cancelled ends', async () => {
    const cwd = folder();
    const { call } = await connect({ cwd });
    const [mine, other] = [mark(), mark()];
    const ending = new AbortController();
    const cancelled = call('bash', { command: `sleep ${mine}` }, { signal: ending.signal }).catch(() => {});
    const goesOn = call('bash', {
      command: `sleep ${other} & until [ -e go ]; do sleep .02; done; kill $!`,
    });
    await until(() => sleepers(mine).length === 1 && sleepers(other).length === 1);
    ending.abort();
    await cancelled;
    await until(() => sleepers(mine).length === 0);
    writeFileSync(join(cwd, 'go'), '');
    expect((await goesOn).structuredContent).toMatchObject({ status: 'exited', exitCode: 0 });
  });

  test('when the connection closes all its commands end', async () => {
    const { call, close } = await connect();
    const seconds = mark();
    const calls = [1, 2, 3].map(() =>
      call('bash', { command: `trap '' HUP; setsid sleep ${seconds} & wait` }, heard()).catch((error) => error),
    );
    await until(() => sleepers(seconds).length === 3);
    await close();
    for (const one of calls) expect(await settles(one)).toBeInstanceOf(Error);
    await until(() => sleepers(seconds).length === 0);
  });
});
