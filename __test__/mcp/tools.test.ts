import { BackgroundRegistry, type BackgroundTask, type BashResult, BashSession } from 'agent-bash';
import { createBashTool, formatResult } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alive, folder, mark, settles, sleepers, until } from '../support/index.ts';
import { MAJORS, textOf } from './majors.ts';

/** A registry of this test's own; its tasks end with it. */
function registry(): BackgroundRegistry {
  const made = new BackgroundRegistry();
  onTestFinished(() => made.close());
  return made;
}

describe.each(MAJORS)('with the SDK $major', ({ connect }) => {
  test('there are three tools, with their descriptions', async () => {
    const { tools } = await connect({ cwd: folder() });
    const [bash, tasks, analyze, ...more] = await tools();
    expect(more).toEqual([]);
    expect(bash).toMatchObject({ name: 'bash', annotations: { readOnlyHint: false, destructiveHint: true } });
    expect(bash?.description).toMatch(/^Runs a command with bash -c/);
    expect(tasks).toMatchObject({ name: 'bash_tasks', annotations: { readOnlyHint: true, destructiveHint: false } });
    expect(analyze).toMatchObject({
      name: 'bash_analyze',
      annotations: { readOnlyHint: true, destructiveHint: false },
      inputSchema: { required: ['command'] },
    });
  });

  test('the input is that of the AI tool, of which nothing has to be given', async () => {
    const [bash] = await (await connect()).tools();
    const schema = bash?.inputSchema as { properties: object; required?: string[] };
    const { properties } = createBashTool().inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' });
    expect(schema.properties).toEqual(properties);
    expect(schema.required).toBeUndefined();
  });

  test('the output is structured, the text what a model reads', async () => {
    const { call } = await connect();
    const answer = await call('bash', { command: 'echo out; echo err >&2; exit 3' });
    expect(answer.isError).toBe(false);
    expect(answer.structuredContent).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, status: 'exited' });
    expect(textOf(answer)).toBe(formatResult(answer.structuredContent as unknown as BashResult));
    expect(textOf(answer)).toContain('[command failed: exit code 3]');
  });

  test('a client that shows its model the data in place of the text gets the data out of its sight', async () => {
    const { call } = await connect({}, { name: 'claude-code' });
    const answer = await call('bash', { command: 'seq 5; exit 3' });
    expect(Object.keys(answer).sort()).toEqual(['_meta', 'content', 'isError']);
    expect(answer._meta).toMatchObject({ 'agent-bash/result': { exitCode: 3, stdout: '1\n2\n3\n4\n5\n' } });
    expect(textOf(answer)).toContain('[command failed: exit code 3]');
  });

  test.each([
    [
      { command: 'true', check_pid: 7 },
      'ERR_BASH_INVALID_ARG',
      /exactly one of command, check_pid, kill_pid, wait_pid and recall/,
    ],
    [undefined, 'ERR_BASH_INVALID_ARG', /exactly one of/],
    [{ command: 7 }, 'ERR_BASH_INVALID_ARG', /command must be a string/],
    [{ command: 'a\0b' }, 'ERR_BASH_INVALID_ARG', /NUL/],
    [{ command: 'true', cwd: '/nowhere' }, 'ERR_BASH_CWD_NOT_FOUND', /\/nowhere/],
    [{ command: 'git push --force' }, 'ERR_BASH_BLOCKED', /not allowed[\s\S]*--force-with-lease/],
    [{ check_pid: 1 }, 'ERR_BASH_UNKNOWN_TASK', /1/],
    [{ command: '' }, 'ERR_BASH_INVALID_ARG', /^command is empty/],
  ])('%j runs nothing, and is an error with a code', async (input, code, text) => {
    const { call } = await connect({ registry: registry() });
    const answer = await call('bash', input as Record<string, unknown>);
    expect(answer).toMatchObject({ isError: true, structuredContent: { code } });
    expect(textOf(answer)).toMatch(text);
  });

  test('errorOnFailure makes an error of another exit code', async () => {
    const { call } = await connect({ errorOnFailure: true });
    expect((await call('bash', { command: 'exit 3' })).isError).toBe(true);
    expect((await call('bash', { command: 'true' })).isError).toBe(false);
  });

  test('perCall receives the SDK’s information about a call, for every tool', async () => {
    const seen: unknown[] = [];
    const { call } = await connect({
      perCall: ({ context, toolCallId }) => {
        seen.push([toolCallId, Object.keys(context as object)]);
        return { env: { USER_OF_CALL: 'ann' } };
      },
    });
    expect(textOf(await call('bash', { command: 'echo $USER_OF_CALL' }))).toContain('ann');
    await call('bash_analyze', { command: 'true' });
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual([expect.stringMatching(/^mcp-\d+$/), expect.arrayContaining([])]);
  });

  test('commands share a session', async () => {
    const session = new BashSession({ cwd: folder() });
    onTestFinished(() => session.close());
    const { call } = await connect({ session });
    await call('bash', { command: 'cd /usr; word=kept' });
    const answer = await call('bash', { command: 'echo $word; pwd' });
    expect(answer.structuredContent).toMatchObject({ stdout: 'kept\n/usr\n', cwd: '/usr' });
  });

  test('a background task is listed, checked and killed', async () => {
    const { call } = await connect({ registry: registry() });
    expect(await call('bash_tasks')).toMatchObject({ structuredContent: { tasks: [] } });
    const seconds = mark();
    const started = await call('bash', { command: `echo up; sleep ${seconds}`, mode: 'background' });
    const pid = Number(/<pid>(\d+)/.exec(textOf(started))?.[1]);
    const listed = await call('bash_tasks', {});
    expect(listed).toMatchObject({ isError: false, structuredContent: { tasks: [{ pid, state: 'running' }] } });
    expect(textOf(listed)).toContain(`${pid} running: echo up; sleep ${seconds} (output: /`);
    await until(async () => /\nup\n/.test(textOf(await call('bash', { check_pid: pid }))));
    const killed = await call('bash', { kill_pid: pid });
    expect(killed).toMatchObject({ isError: false, structuredContent: { task: { state: 'killed' } } });
    expect(alive(pid)).toBe(false);
    expect(textOf(await call('bash_tasks'))).toContain(`${pid} killed by SIGTERM`);
  });

  test('a list of many is short for the model, and whole for programs', async () => {
    const tasks = registry();
    const { call } = await connect({ registry: tasks });
    for (let n = 0; n < 53; n++) await tasks.start(`: ${n} ${'x'.repeat(1_000)}`);
    await until(() => tasks.list().every(({ state }) => state === 'exited'));
    const answer = await call('bash_tasks');
    const listed = (answer.structuredContent as { tasks: BackgroundTask[] }).tasks;
    expect(listed).toHaveLength(53);
    expect(listed).toEqual(listed.toSorted((a, b) => b.startedAt - a.startedAt));
    const lines = textOf(answer).split('\n');
    expect(lines).toHaveLength(51);
    // Several may have started within one millisecond.
    expect(lines[0]).toMatch(new RegExp(`^${listed[0]?.pid} exited with code 0: : \\d+ x+… `));
    expect(lines[50]).toBe('… and 3 more');
  });

  test('a command is judged as it would run, and is not run', async () => {
    const cwd = folder();
    const { call } = await connect({ cwd, safety: { rules: { 'git-clean': 'deny' } } });
    const answer = await call('bash_analyze', { command: 'touch made; git clean -fd' });
    expect(answer).toMatchObject({ isError: false, structuredContent: { verdict: 'deny', cwd, complete: true } });
    expect(textOf(answer)).toMatch(/^verdict: deny; it changes something\ndeny \(git-clean\): /);
    expect(textOf(await call('bash', { command: 'ls -A' }))).toContain('(no output)');
    expect(textOf(await call('bash_analyze', { command: 'ls' }))).toBe('verdict: allow; it only reads');
    expect(await call('bash_analyze', { command: 7 })).toMatchObject({
      isError: true,
      structuredContent: { code: 'ERR_BASH_INVALID_ARG' },
    });
  });

  test('a hundred calls at once each get their own answer', async () => {
    const { call } = await connect();
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const answers = await settles(
      Promise.all(numbers.map((n) => call('bash', { command: `echo ${n}; exit ${n}`, timeout_ms: 60_000 }))),
      60_000,
    );
    expect(answers.map(({ structuredContent }) => structuredContent?.exitCode)).toEqual(numbers);
    expect(answers.map(({ structuredContent }) => structuredContent?.stdout)).toEqual(numbers.map((n) => `${n}\n`));
  });

  test('a command that hangs ends at its own limit, with all it started', async () => {
    const { call } = await connect({ timeoutMs: 1_000 });
    const seconds = mark();
    const answer = await settles(call('bash', { command: `echo up; setsid sleep ${seconds} & sleep ${seconds}` }));
    expect(answer).toMatchObject({ isError: false, structuredContent: { status: 'timed-out', exitCode: 124 } });
    expect(textOf(answer)).toMatch(/^\[command timed out after 1s\][\s\S]*up/);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('invalid options are refused when the tools are registered', async () => {
    await expect(connect({ interceptor: [{ pattern: '(', tool: 'x', message: 'x' }] })).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
    });
  });
});
