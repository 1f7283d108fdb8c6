import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash } from 'agent-bash';
import {
  BASH_INSTRUCTIONS,
  type BashRunner,
  type BashToolInput,
  type BashToolOptions,
  createBashTool,
  createToolApproval,
  SESSION_INSTRUCTIONS,
} from 'agent-bash/ai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { reaching, folder as temporary } from '../support/index.ts';
import { callTool, runTool } from './fixtures/call.ts';
import { MAJORS, type Step } from './fixtures/majors.ts';

const sessions: BashSession[] = [];
afterEach(() => Promise.all(sessions.splice(0).map((session) => session.close())));

function begin(options: ConstructorParameters<typeof BashSession>[0] = {}): BashSession {
  const session = new BashSession(options);
  sessions.push(session);
  return session;
}

const folder = () => realpathSync(temporary());

/** The output of successive commands in the tool. */
async function outputs(options: BashToolOptions, ...commands: (string | BashToolInput)[]): Promise<string[]> {
  const written: string[] = [];
  for (const command of commands) written.push((await runTool(options, command)).stdout);
  return written;
}

describe.each(MAJORS)('%s', (name, { ai, script }) => {
  const stopWhen = ai.stepCountIs(6);
  const prompt = 'go on';
  const steps = (...commands: string[]): Step[] => [
    ...commands.map((command) => ({ call: { command } })),
    { say: '.' },
  ];

  it('the commands of an agent share a session', async () => {
    const cwd = folder();
    const tools = { bash: createBashTool({ session: begin({ cwd }) }) };
    const { model, requests } = script(steps('mkdir sub; cd sub; x=1; f() { echo "f $x"; }', 'f; pwd; false', 'f'));
    const { steps: taken } = await ai.generateText({ model, prompt, tools, stopWhen });
    expect(taken.slice(0, 3).map(({ toolResults }) => toolResults[0]?.output)).toMatchObject([
      { stdout: '', cwd: `${cwd}/sub` },
      { stdout: `f 1\n${cwd}/sub\n`, exitCode: 1, cwd: `${cwd}/sub` },
      { stdout: 'f 1\n' },
    ]);
    expect(requests()[0]?.tools[0]?.description).toMatch(/functions, aliases and options persist between calls/);
  });

  it('each user has a session of their own, through perCall', async () => {
    const both = folder();
    const users = new Map<string, BashSession>();
    const sessionOf = (user: string) => users.get(user) ?? users.set(user, begin({ cwd: both })).get(user);
    const tools = {
      bash: createBashTool({
        perCall: ({ context }) => ({ session: sessionOf((context as { user: string }).user) }),
      }),
    };
    // Each sets all that the other would see, then waits until the other has, too.
    const meet = (user: string, other: string) =>
      `echo > ${both}/${user}; until [ -e ${both}/${other} ]; do sleep .01; done`;
    const ask = async (user: string, other: string) => {
      const { model } = script(
        steps(
          `export WHO=${user} ONLY_${user}=1; ${user}() { :; }; shopt -s expand_aliases; alias hi='echo ${user}'; cd ${both}; ${meet(user, other)}`,
          `echo $WHO; compgen -v ONLY_; compgen -A function; alias; pwd`,
          'cd /; hi',
        ),
      );
      const context = { user };
      const passed = name === 'ai 6' ? { experimental_context: context } : { toolsContext: { bash: context } };
      const { steps: taken } = await ai.generateText({ model, prompt, tools, stopWhen, ...passed });
      return taken
        .slice(0, 3)
        .map(({ toolResults }) => (toolResults[0] as { output: { stdout: string } }).output.stdout);
    };
    expect(await Promise.all([ask('ann', 'bob'), ask('bob', 'ann')])).toEqual(
      ['ann', 'bob'].map((user) => [
        '',
        `${user}\nONLY_${user}\n${user}\nalias hi='echo ${user}'\n${both}\n`,
        `${user}\n`,
      ]),
    );
    expect([...users].map(([user, { cwd }]) => [user, cwd])).toEqual([
      ['ann', '/'],
      ['bob', '/'],
    ]);
  });
});

describe('calls side by side', () => {
  it('run one after another, in the order of the calls', async () => {
    const options = { session: begin() };
    const calls = [`sleep .2; n=1`, ...Array.from({ length: 6 }, () => 'echo $((n++))')];
    const results = await Promise.all(calls.map((command) => runTool(options, command)));
    expect(results.map(({ stdout }) => stdout)).toEqual(['', '1\n', '2\n', '3\n', '4\n', '5\n', '6\n']);
  });

  it('an abort ends one of them, and leaves the state before it', async () => {
    const options = { session: begin() };
    await runTool(options, 'x=before');
    const stop = new AbortController();
    const running = runTool(options, 'x=after; echo started; sleep 60', {
      abortSignal: stop.signal,
      onOutput: (output) => 'stdout' in output && output.stdout === 'started\n' && stop.abort(),
    });
    const next = runTool(options, 'echo $x');
    expect(await running).toMatchObject({ status: 'aborted', exitCode: 130, stdout: 'started\n' });
    expect(await next).toMatchObject({ status: 'exited', stdout: 'before\n' });
  });

  it('an abort takes one out of the queue that has not begun', async () => {
    const options = { session: begin() };
    const first = runTool(options, 'sleep .3; x=first');
    const stop = new AbortController();
    const queued = runTool(options, 'x=queued', { abortSignal: stop.signal });
    const last = runTool(options, 'echo $x');
    stop.abort();
    expect(await queued).toMatchObject({ status: 'aborted', pid: 0 });
    expect((await first).status).toBe('exited');
    expect((await last).stdout).toBe('first\n');
  });
});

describe('the directory', () => {
  it('is the one that the session is in, whatever the tool was given', async () => {
    const cwd = folder();
    mkdirSync(join(cwd, 'sub'));
    const options = { session: begin({ cwd }), cwd: '/' };
    expect(await outputs(options, 'pwd; cd sub', 'pwd')).toEqual([`${cwd}\n`, `${cwd}/sub\n`]);
    const up = { command: 'pwd', cwd: '..' };
    expect(await outputs(options, up, 'pwd', { command: 'pwd', cwd: '' })).toEqual(Array(3).fill(`${cwd}\n`));
    expect((await callTool(options, { command: 'true', cwd: 'none' })).output).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
    });
  });

  it('is in the description, as of the tool’s creation', async () => {
    const cwd = folder();
    const session = begin({ cwd: '/usr', ...reaching(cwd) });
    await session.run(`cd ${cwd}`);
    expect(createBashTool({ session }).description).toMatch(`<pwd>${cwd}</pwd>`);
    expect(createBashTool({ session, cwd: '/usr', description: (context) => context.cwd }).description).toBe(cwd);
  });

  it('is where a call is judged, by the run and by an approval', async () => {
    const root = folder();
    mkdirSync(join(root, 'sub'));
    const session = begin({ cwd: join(root, 'sub'), env: { HOME: root } });
    const tool = createBashTool({ session });
    const approval = createToolApproval({ tool });
    const ask = async (input: BashToolInput) => (await approval.judge(input)).analysis?.cwd;
    expect(await ask({ command: 'true' })).toBe(join(root, 'sub'));
    await session.run('cd ..');
    expect(await ask({ command: 'true' })).toBe(root);
    expect(await ask({ command: 'true', cwd: 'sub' })).toBe(join(root, 'sub'));
    const harmless = { command: 'rm -rf ./sub/none' };
    expect((await approval.judge({ command: 'rm -rf .' })).verdict).toBe('deny');
    expect((await approval.judge(harmless)).verdict).not.toBe('deny');
    expect(await callTool({ session }, 'rm -rf .')).toMatchObject({ output: { code: 'ERR_BASH_BLOCKED' } });
  });
});

describe('what a call leaves', () => {
  it('counts when the next one is judged', async () => {
    const options = { session: begin() };
    await runTool(options, 'x=--force');
    expect((await callTool(options, 'git push $x')).output).toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      findings: [{ ruleId: 'git-force-push' }],
    });
    expect((await runTool(options, 'echo $x')).stdout).toBe('--force\n');
  });

  it('is there in the background, which leaves nothing itself', async () => {
    const registry = new BackgroundRegistry();
    const options = { session: begin(), registry };
    await runTool(options, 'x=1');
    const started = await runTool(options, { command: 'echo "x is $x"; x=2', mode: 'background' });
    expect(started.status).toBe('backgrounded');
    expect((await registry.wait(started.pid)).output).toBe('x is 1\n');
    expect((await callTool(options, { check_pid: started.pid })).text).toContain('exited with code 0');
    expect((await runTool(options, 'echo $x')).stdout).toBe('1\n');
    await registry.close();
  });

  it('is kept when a command is ended after the lines of head, as it was before', async () => {
    const options = { session: begin() };
    await runTool(options, 'x=1');
    const ended = await runTool(options, { command: 'x=2; yes', head: 1 });
    expect(ended).toMatchObject({ stdout: expect.stringMatching(/^y\n\[/), exitCode: 0 });
    expect((await runTool(options, 'echo $x')).stdout).toBe('1\n');
  });
});

describe('what the session was made with', () => {
  it('holds where the tool says nothing', async () => {
    const session = begin({ timeoutMs: 7_000, truncate: { keep: 'tail', maxLines: 2 }, safety: 'off' });
    expect(await runTool({ session }, 'seq 5')).toMatchObject({
      timeoutMs: 7_000,
      stdout: '4\n5\n[stdout: Showing last 2 of 5 lines]',
    });
    expect(await runTool({ session, timeoutMs: 8_000 }, 'true')).toMatchObject({ timeoutMs: 8_000 });
    const { description } = createBashTool({ session });
    expect(description).toMatch('The time limit is 7 s');
    expect(description).toMatch('the last 2 lines');
  });

  it('its registry is the one that check_pid and kill_pid ask', async () => {
    const registry = new BackgroundRegistry();
    const session = begin({ registry });
    const { pid } = await runTool({ session }, { command: 'sleep 60', mode: 'background' });
    expect((await callTool({ session }, { kill_pid: pid })).output).toMatchObject({ task: { pid, state: 'killed' } });
    await registry.close();
  });

  it('its variables are those that it begins with, those of the tool are set for each command', async () => {
    const options = { session: begin({ env: { A: 'first' } }), env: { B: 'tool' } };
    expect(
      await outputs(options, 'echo $A $B; A=changed B=changed', 'echo $A $B', 'unset A', 'echo ${A-none}'),
    ).toEqual(['first tool\n', 'changed tool\n', '', 'none\n']);
  });

  it('does not hide what the tool was given wrong', async () => {
    const options = { session: begin(), env: 'A=1' } as unknown as BashToolOptions;
    expect((await callTool(options, 'true')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });

  it('its signal and its listeners have their say', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    let yielded = false;
    let shown = '';
    // The command is aborted once the tool has yielded its output and the session has a snapshot of it.
    const end = () => void (yielded && shown === 'on\n' && stop.abort());
    const onSnapshot = ({ stdout }: { stdout: string }) => {
      shown = stdout;
      end();
    };
    const onOutput = ({ text }: { text: string }) => void heard.push(text);
    const session = begin({ signal: stop.signal, onOutput, onSnapshot });
    await runTool({ session }, 'echo plain');
    await runTool({ session }, { command: 'echo one', head: 1 });
    expect(heard).toEqual(['plain\n', 'one\n']);
    const running = runTool({ session, updateIntervalMs: 10 }, 'echo on; sleep 60', {
      abortSignal: new AbortController().signal,
      onOutput: () => {
        yielded = true;
        end();
      },
    });
    expect(await running).toMatchObject({ status: 'aborted', stdout: 'on\n' });
  });
});

describe('a tool', () => {
  it('says that state lasts, and does not say otherwise where it may', () => {
    const said = (options: BashToolOptions) => createBashTool(options).description;
    const session = begin();
    expect(said({})).toMatch('variables and aliases do not persist between calls');
    expect(said({ session })).toMatch('options persist between calls, jobs do not');
    expect(said({ perCall: () => ({ session }) })).toMatch('persist between calls only where you were told so');
    expect(SESSION_INSTRUCTIONS.startsWith(BASH_INSTRUCTIONS)).toBe(true);
    expect(SESSION_INSTRUCTIONS).toMatch('The shell remembers');
  });

  it('an injected `run` replaces the session', async () => {
    const run = vi.fn<BashRunner>(bash);
    const cwd = folder();
    const session = begin({ cwd: folder() });
    expect((await runTool({ session, run, cwd }, 'x=1; pwd')).stdout).toBe(`${cwd}\n`);
    expect(run).toHaveBeenCalledOnce();
    expect(run.mock.calls[0]?.[1]).toMatchObject({ cwd });
    expect(run.mock.calls[0]?.[1]).not.toHaveProperty('session');
    expect((await session.run('echo ${x-none}')).stdout).toBe('none\n');
  });

  it('gives an error for a session that is closed', async () => {
    const session = begin();
    await session.close();
    expect((await callTool({ session }, 'true')).output).toEqual({
      error: 'the session was closed',
      code: 'ERR_BASH_CLOSED',
    });
  });

  it('refuses a value that is not a session', async () => {
    const none = { session: {} as unknown as BashSession };
    expect(() => createBashTool(none)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
    expect((await callTool({ perCall: () => none }, 'true')).output).toEqual({
      error: 'session: it is not a BashSession',
      code: 'ERR_BASH_INVALID_ARG',
    });
  });
});
