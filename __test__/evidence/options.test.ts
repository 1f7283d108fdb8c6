import { realpathSync } from 'node:fs';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { type BashRunner, createBashTool, formatResult } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { agentsShell } from 'agent-bash/openai';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { afterAll, describe, expect, test } from 'vitest';
import { callTool, runTool } from '../ai/fixtures/call.ts';
import { MAJORS } from '../mcp/majors.ts';
import { folder, isLinux, rejection } from '../support/index.ts';

const registry = new BackgroundRegistry();
afterAll(() => registry.close());

const WRONG: [given: object, message: string][] = [
  [{ evidence: true }, 'evidence: true is not one of off, status, tree'],
  [{ evidence: 'all' }, 'evidence: "all" is not one of off, status, tree'],
  [{ taps: true }, 'taps: true is not one of off, on'],
  [{ taps: 'all' }, 'taps: "all" is not one of off, on'],
];

test.each(WRONG)('%j is ERR_BASH_INVALID_ARG everywhere, and nothing runs', async (given, message) => {
  const options = given as never;
  const calls = [
    () => bash('exit 9', options),
    async () => new BashSession(options),
    () => registry.start('exit 9', options),
    async () => new PtySession(options),
  ];
  for (const call of calls) {
    expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message });
  }
  expect((await callTool(options, 'exit 9')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: message });
});

describe('evidence is null', () => {
  test('by default', async () => {
    expect((await bash('true')).evidence).toBeNull();
    const session = new BashSession();
    expect((await session.run('true')).evidence).toBeNull();
    await session.close();
  });

  test('for a command that starts in the background, until it has ended', async () => {
    const { evidence, background } = await bash('sleep .1', { mode: 'background', evidence: 'status', registry });
    expect(evidence).toBeNull();
    if (background === null) throw new Error('it was to be a task');
    expect((await registry.wait(background)).evidence).not.toBeNull();
    expect((await registry.check(background)).evidence).not.toBeNull();
  });

  test('for a task of another registry in the same directory', async () => {
    const dir = folder();
    const [one, other] = [new BackgroundRegistry({ dir }), new BackgroundRegistry({ dir })];
    const task = await one.start('true', { evidence: 'status' });
    expect((await one.wait(task)).evidence).not.toBeNull();
    expect((await other.wait(task)).evidence).toBeNull();
    await Promise.all([one.close(), other.close()]);
  });

  test('in a sandbox, and with a run of the host', async () => {
    const sandbox = createLocalSandboxSession({ cwd: folder() });
    expect(await runTool({ sandbox }, 'true')).toMatchObject({ exitCode: 0, evidence: null });
    const given: unknown[] = [];
    const run: BashRunner = (command, options) => {
      given.push(options?.evidence);
      return bash(command, options);
    };
    expect(await runTool({ run }, 'true')).toMatchObject({ exitCode: 0, evidence: null });
    expect(given).toEqual([undefined]);
  });
});

describe('evidence is not null', () => {
  const state = isLinux ? /^(known|partial)$/ : /^unknown$/;
  const some = { state: expect.stringMatching(state) };

  test('for the tree of the directory', async () => {
    expect((await bash('true', { evidence: 'tree' })).evidence).toMatchObject(some);
  });

  test.runIf(realpathSync('/bin/sh').endsWith('dash'))('for a shell that cannot be watched', async () => {
    const { evidence } = await bash('true | false', { evidence: 'status', shell: '/bin/sh', warm: false });
    expect(evidence).toMatchObject({ verdict: 'failed', state: 'unknown', parts: [], partsTotal: 0 });
  });

  test('for a command that bash reads as a script, which the text alone decides', async () => {
    const blanks = ' '.repeat(140_000);
    const long = await bash(`false | true;${blanks}`, { evidence: 'status' });
    expect(long.exitCode).toBe(0);
    expect(long.evidence).toMatchObject({ verdict: 'unproven', state: 'unknown', parts: [], masked: [] });
    expect(long.evidence?.notKnown).toEqual({ command: 'false', span: [0, 5], by: 'pipe', behind: 'true' });
    expect(formatResult(long)).toContain('[not known: the exit code of «false», behind | true]');
    const plain = await bash(`/bin/true${blanks}`, { evidence: 'status' });
    expect(plain.evidence).toMatchObject({ verdict: 'passed', partsTotal: 1 });
  });

  test('for a command that was aborted before it began', async () => {
    const { evidence } = await bash('true', { evidence: 'status', signal: AbortSignal.abort() });
    expect(evidence).toMatchObject({ verdict: 'failed', state: 'unknown', parts: [], partsTotal: 0 });
  });

  test('for a command that reached its limit, or was ended', async () => {
    const late = await bash('false | sleep 300', { evidence: 'status', timeoutMs: 200 });
    expect(late).toMatchObject({ status: 'timed-out', evidence: { verdict: 'failed' } });
    const task = await registry.start('echo ready; false | sleep 300', { evidence: 'status' });
    expect(await registry.wait(task, { pattern: 'ready' })).toMatchObject({ evidence: null });
    expect((await registry.kill(task)).evidence).toMatchObject({ ...some, verdict: 'failed' });
  });

  test('by default for the shell of OpenAI, whose model reads of a hidden failure', async () => {
    const { output } = await agentsShell({ cwd: folder() }).run({ commands: ['sh -c "exit 3" | cat; echo out'] });
    const line = isLinux
      ? '[hidden failure: «sh -c "exit 3"» exit code 3, behind | cat]'
      : '[not known: the exit code of';
    expect(output[0]).toMatchObject({ stdout: 'out\n', stderr: expect.stringContaining(line) });
  });

  test('by default for the tools for models', async () => {
    expect((await runTool({}, 'true')).evidence).toMatchObject(some);
    expect((await runTool({ evidence: 'off' }, 'true')).evidence).toBeNull();
    const session = new BashSession({ evidence: 'off' });
    expect((await runTool({ session }, 'true')).evidence).toBeNull();
    expect((await runTool({ session, evidence: 'status' }, 'true')).evidence).toMatchObject(some);
    await session.close();
    expect(createBashTool({ evidence: 'tree' })).toBeDefined();
    expect(anthropicBash({ evidence: 'tree' })).toBeDefined();
  });

  describe.each(MAJORS)('by default over MCP, with the SDK $major', ({ connect }) => {
    test('in the structured output', async () => {
      const { call } = await connect({ cwd: folder() });
      expect((await call('bash', { command: 'true' })).structuredContent).toMatchObject({ evidence: some });
    });

    test('but not if it is off', async () => {
      const { call } = await connect({ cwd: folder(), evidence: 'off' });
      expect((await call('bash', { command: 'true' })).structuredContent).toMatchObject({ evidence: null });
    });
  });
});
