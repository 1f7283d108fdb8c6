import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AUTHORITY, HOST, secretFor, secretHost } from '../confine/secrets/support.ts';
import { folder, hostEnv, place, rejection, until } from '../support/index.ts';
import { instrumented, sdk } from './support.ts';

function registryOf(dir?: string): BackgroundRegistry {
  const registry = new BackgroundRegistry({ dir });
  onTestFinished(() => registry.close());
  return registry;
}

const TOOL = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'bash',
  'gen_ai.tool.type': 'function',
};

test('a run is one span, INTERNAL, with the attributes of the conventions and no others', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  const { pid, runId, durationMs } = await bash('sleep .2; exit 3');
  const [span, ...others] = await ended(1);
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: 'execute_tool bash', kind: SpanKind.INTERNAL, events: [], links: [] });
  expect(span?.attributes).toEqual({
    ...TOOL,
    'process.pid': pid,
    'process.exit.code': 3,
    'agent_bash.run.id': runId,
  });
  // An exit code is no error.
  expect(span?.status).toEqual({ code: SpanStatusCode.UNSET });
  const [seconds = 0, nanoseconds = 0] = span?.duration ?? [];
  expect(seconds * 1000 + nanoseconds / 1e6).toBeGreaterThanOrEqual(durationMs - 1);
});

test('the span of a run on a target has its name', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  const { target } = await place();
  const { pid, runId } = await bash('true', { target });
  const [span] = await ended(1);
  const own = { 'agent_bash.target': 'there', 'agent_bash.run.id': runId, 'process.pid': pid, 'process.exit.code': 0 };
  expect(span?.attributes).toEqual({ ...TOOL, ...own });
});

test.skipIf(process.platform !== 'linux')('the span of a run that uses secrets has their names', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  const { port } = await secretHost();
  hostEnv({ SSL_CERT_FILE: AUTHORITY });
  const secrets = { TOKEN: secretFor(port), UNUSED: secretFor(port) };
  const network = { allow: [], hosts: { [HOST]: '127.0.0.1' } };
  const send = `curl -sS -H "Authorization: $TOKEN" https://${HOST}:${port}`;
  const { confinement } = await bash(send, { cwd: folder(), confine: { network, secrets } });
  expect(confinement?.secrets).toMatchObject([{ name: 'TOKEN', refused: null }]);
  expect((await ended(1))[0]?.attributes['agent_bash.secrets']).toEqual(['TOKEN']);
});

test('a span has begun with the call, and has ended before the caller has the result', async () => {
  const { tracer, spans } = sdk();
  instrumented({ tracer });
  const before = Date.now();
  await bash('true');
  const [seconds = 0, nanoseconds = 0] = spans()[0]?.startTime ?? [];
  expect(seconds * 1000 + nanoseconds / 1e6).toBeGreaterThanOrEqual(before - 2);
});

/** Runs that are no errors and runs that are, with `error.type`. */
const ENDS: [what: string, error: string | undefined, act: () => Promise<unknown>][] = [
  ['an exit code', undefined, () => bash('exit 1')],
  ['an exit code of 124', undefined, () => bash('exit 124')],
  ['a signal', 'SIGKILL', () => bash('kill -9 $$')],
  ['another signal', 'SIGTERM', () => bash('kill $$')],
  ['a time limit', 'timeout', () => bash('sleep 300', { timeoutMs: 50 })],
  ['a time limit of silence', 'timeout', () => bash('sleep 300', { idleTimeoutMs: 50 })],
  [
    'an abort',
    'aborted',
    () => {
      const stop = new AbortController();
      return bash('echo ready; sleep 300', { signal: stop.signal, onOutput: () => stop.abort() });
    },
  ],
  ['an abort before the call', 'aborted', () => bash('true', { signal: AbortSignal.abort() })],
  ['a refusal', 'ERR_BASH_BLOCKED', () => rejection(() => bash('git push --force'))],
  ['a missing directory', 'ERR_BASH_CWD_NOT_FOUND', () => rejection(() => bash('true', { cwd: '/no/such/place' }))],
  ['a missing shell', 'ERR_BASH_SHELL_NOT_FOUND', () => rejection(() => bash('true', { shell: '/no/such/shell' }))],
  [
    'the end of its session',
    'aborted',
    async () => {
      const session = new BashSession();
      const run = session.run('echo ready; sleep 300', { onOutput: () => void session.close() });
      await run;
    },
  ],
  [
    'the end of its session before its turn',
    'ERR_BASH_CLOSED',
    async () => {
      const session = new BashSession();
      const run = Promise.allSettled([session.run('sleep 300'), session.run('true')]);
      await session.close();
      await run;
    },
  ],
  [
    'the end of its terminal',
    'aborted',
    async () => {
      const terminal = new PtySession();
      await terminal.start('sleep 300');
      await terminal.kill();
    },
  ],
  [
    'a killed task',
    'SIGTERM',
    async () => {
      const registry = registryOf();
      await registry.kill((await registry.start('sleep 300')).id);
    },
  ],
  [
    'a task at its limit',
    'timeout',
    async () => {
      const registry = registryOf();
      await registry.wait((await registry.start('sleep 300', { timeoutMs: 50 })).id);
    },
  ],
  [
    'a task with an exit code',
    undefined,
    async () => {
      const registry = registryOf();
      await registry.wait((await registry.start('exit 3')).id);
    },
  ],
  [
    'an aborted start of a task',
    'aborted',
    () => rejection(() => registryOf().start('true', { signal: AbortSignal.abort() })),
  ],
  ['a refused task', 'ERR_BASH_BLOCKED', () => rejection(() => registryOf().start('git push --force'))],
];

test.each(ENDS)('error.type of %s: %s', async (_what, error, act) => {
  const { tracer, spans } = sdk();
  instrumented({ tracer });
  await act();
  const span = await until(() => spans().find(({ attributes }) => attributes['error.type'] === error));
  // No description, which would quote the command.
  expect(span.status).toEqual({ code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR });
});

test('a span says which limit it reached and that the command waited, without its text and its output', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  await bash('printf "secret-line Password: "; sleep 300', { idleTimeoutMs: 300 });
  await bash('sleep 300', { timeoutMs: 50 });
  const registry = registryOf();
  const moved = await bash('printf "secret-line Password: "; sleep 300', { idleTimeoutMs: 300, registry });
  await registry.kill(moved.background?.id as string);
  const all = (await ended(3)).map(({ attributes }) => attributes);
  expect(all.map((one) => [one['error.type'], one['agent_bash.limit'], one['agent_bash.waited_for']])).toEqual([
    ['timeout', 'silence', 'perhaps waiting for an answer'],
    ['timeout', 'time', undefined],
    ['SIGTERM', 'silence', 'perhaps waiting for an answer'],
  ]);
  expect(JSON.stringify(all)).not.toContain('secret-line');
});

test('a run that never started has neither pid nor exit code', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  await bash('true', { signal: AbortSignal.abort() });
  await rejection(() => bash('git push --force'));
  for (const { attributes } of await ended(2)) {
    expect(Object.keys(attributes).sort()).toEqual([...Object.keys(TOOL), 'error.type'].sort());
  }
});

describe('tasks', () => {
  test('a task is one span, from its call to its end', async () => {
    const { tracer, ended } = sdk();
    instrumented({ tracer });
    const registry = registryOf();
    const { pid } = await registry.start('sleep .3; exit 4');
    const [span, ...others] = await ended(1);
    expect(others).toEqual([]);
    expect(span?.attributes).toMatchObject({ 'process.pid': pid, 'process.exit.code': 4 });
    const [seconds = 0, nanoseconds = 0] = span?.duration ?? [];
    expect(seconds + nanoseconds / 1e9).toBeGreaterThanOrEqual(0.3);
  });

  test('a task that has ended before its start resolves is one span, too', async () => {
    const { tracer, ended } = sdk();
    instrumented({ tracer });
    const registry = registryOf();
    await Promise.all(Array.from({ length: 10 }, (_, code) => registry.start(`exit ${code}`)));
    const codes = (await ended(10)).map(({ attributes }) => attributes['process.exit.code']);
    expect(codes.sort()).toEqual(Array.from({ length: 10 }, (_, code) => code));
  });

  test('a command that moves to the background stays one span, which ends with the task', async () => {
    const { tracer, ended, spans } = sdk();
    instrumented({ tracer });
    const registry = registryOf();
    const result = await bash('sleep 1; exit 5', { registry, timeoutMs: 100 });
    expect(result.status).toBe('backgrounded');
    expect(spans()).toEqual([]);
    const [span, ...others] = await ended(1);
    expect(others).toEqual([]);
    expect(span?.attributes).toMatchObject({ 'process.pid': result.pid, 'process.exit.code': 5 });
    expect(span?.attributes).not.toHaveProperty('error.type');
  });

  test('tasks of other processes have no span', async () => {
    const dir = folder();
    const other = registryOf(dir);
    const { id } = await other.start('sleep 300');
    const { tracer, ended, spans } = sdk();
    instrumented({ tracer });
    const registry = registryOf(dir);
    await registry.start('true');
    await ended(1);
    await registry.kill(id);
    await registry.start('true');
    await ended(2);
    expect(spans()).toHaveLength(2);
  });
});

describe('the text of a command', () => {
  const secret = 'correct-horse-battery';
  const command = `echo ${secret} >&2; exit 3`;

  test('is in no span and no measurement unless it is asked for', async () => {
    const { tracer, meter, ended, measured } = sdk();
    instrumented({ tracer, meter });
    await bash(command);
    await rejection(() => bash(`git push --force origin ${secret}`));
    await rejection(() => bash(command, { cwd: `/no/${secret}` }));
    const session = new BashSession();
    await session.run(command, { args: [secret], env: { SECRET: secret } });
    await session.close();
    const spans = await ended(4);
    const shown = spans.map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(JSON.stringify([shown, await measured()])).not.toContain(secret);
  });
});

test('a span that is not sampled is no error, and its command runs', async () => {
  const { tracer, spans } = sdk({ sampler: new AlwaysOffSampler() });
  instrumented({ tracer, command: true });
  expect((await bash('echo hi')).stdout).toBe('hi\n');
  expect(spans()).toEqual([]);
});
