import { analyze, BashSession, bash } from 'agent-bash';
import {
  type BashToolOptions,
  createBashTool,
  createTerminalTool,
  createToolApproval,
  type ToolSandbox,
} from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiShell } from 'agent-bash/openai';
import * as ai7 from 'ai7';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callTool, runTool } from '../../../../ai/fixtures/call.ts';
import { MAJORS } from '../../../../ai/fixtures/majors.ts';
import { justBash, localRunner, localSession, PLACES } from '../../../../ai/in-sandbox/places.ts';
import { folder } from '../../../../support/index.ts';

const prompt = 'go on';
const [, seven] = MAJORS.map(([, major]) => major);

describe.each(MAJORS)('%s', (_, { ai, script }) => {
  describe.each(PLACES)('in %s', (_, make) => {
    it('the commands of an agent run there', async () => {
      const tools = { bash: createBashTool({ sandbox: await make() }) };
      const { model, lastResult } = script([
        { call: { command: 'echo kept >file' } },
        { call: { command: 'cat file; exit 2' } },
        { say: '.' },
      ]);
      const { steps } = await ai.generateText({ model, prompt, tools, stopWhen: ai.stepCountIs(5) });
      expect(steps[1]?.toolResults[0]?.output).toMatchObject({ stdout: 'kept\n', exitCode: 2, status: 'exited' });
      expect(lastResult()).toEqual({
        type: 'text',
        value: '[command failed: exit code 2]\n\nkept',
      });
    });
  });

  it('perCall gives each user a place of their own', async () => {
    const users = new Map<string, ToolSandbox>([
      ['ann', localSession()],
      ['bob', await justBash()],
    ]);
    const tools = {
      bash: createBashTool({
        perCall: ({ context }) => ({ sandbox: users.get((context as { user: string }).user) }),
      }),
    };
    const say = async (user: string, command: string) => {
      const { model, lastResult } = script([{ call: { command } }, { say: '.' }]);
      const context = { user };
      const given = { experimental_context: context, toolsContext: { bash: context } };
      await ai.generateText({ model, prompt, tools, stopWhen: ai.stepCountIs(3), ...given });
      return lastResult()?.value;
    };
    await say('ann', 'echo mine >file');
    expect(await say('ann', 'cat file')).toContain('mine');
    expect(await say('bob', 'cat file')).toContain('No such file');
  });
});

describe('experimental_sandbox of ai 7', () => {
  it.each([
    ['the published session', justBash],
    ['ours', async () => localSession()],
  ])('%s: the command runs there, and streams', async (_, make) => {
    const session = await make();
    const { model, lastResult } = (seven as NonNullable<typeof seven>).script([
      { call: { command: 'echo "in $PWD"; echo kept >file' } },
      { call: { command: 'cat file' } },
      { say: '.' },
    ]);
    const result = ai7.streamText({
      model,
      prompt,
      tools: { bash: createBashTool() },
      stopWhen: ai7.stepCountIs(5),
      experimental_sandbox: session as ai7.Experimental_SandboxSession,
    });
    await result.consumeStream();
    expect(lastResult()?.value).toContain('kept');
    expect((await session.run({ command: 'cat file' })).stdout).toBe('kept\n');
  });

  it('it goes before the option, and the option before the machine', async () => {
    const [own, given] = [folder(), folder()];
    const sandbox = localRunner(own);
    expect((await runTool({ sandbox }, 'pwd')).stdout).toBe(`${own}\n`);
    const call = { experimental_sandbox: localSession(given) };
    expect((await runTool({ sandbox }, 'pwd', call)).stdout).toBe(`${given}\n`);
    expect((await runTool({ cwd: '/', perCall: () => ({ sandbox, cwd: undefined }) }, 'pwd')).stdout).toBe('/\n');
    expect((await runTool({}, 'pwd', { experimental_sandbox: undefined })).stdout).toBe(`${process.cwd()}\n`);
  });

  it('a run of the tool takes its place, too', async () => {
    const { stdout } = await runTool(
      { run: async (command, options) => ({ ...(await bash('true', options)), stdout: `not run: ${command}` }) },
      'pwd',
      { experimental_sandbox: localSession() },
    );
    expect(stdout).toBe('not run: pwd');
  });

  it('an invalid one is an error and runs nothing', async () => {
    for (const none of [{}, 'sandbox', 1, { run: true }]) {
      const { output } = await callTool({}, 'true', { experimental_sandbox: none as never });
      expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: expect.stringContaining('sandbox') });
      expect(() => createBashTool({ sandbox: none as never })).toThrow(
        expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
      );
    }
  });

  it('a terminal is not started on this machine instead', async () => {
    const terminal = createTerminalTool();
    onTestFinished(() => terminal.close());
    const call = { toolCallId: '1', experimental_sandbox: localSession() };
    const refused = await terminal.execute({ action: 'start', command: 'cat' }, call);
    expect(refused).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
  });
});

describe('the directory', () => {
  it('has no default: it is the sandbox’s own, and is looked at there', async () => {
    const cwd = folder();
    const sandbox = localSession(cwd);
    await runTool({ sandbox }, 'mkdir -p sub/deep');
    const pwd = async (options: BashToolOptions, asked?: string) =>
      (await runTool({ sandbox, ...options }, { command: 'pwd', cwd: asked })).stdout;
    expect(await pwd({})).toBe(`${cwd}\n`);
    expect(await pwd({}, 'sub')).toBe(`${cwd}/sub\n`);
    expect(await pwd({ cwd: 'sub' })).toBe(`${cwd}/sub\n`);
    expect(await pwd({ cwd: 'sub' }, 'deep')).toBe(`${cwd}/sub/deep\n`);
    expect(await pwd({ cwd: 'sub' }, '/')).toBe('/\n');
    expect(await pwd({ perCall: () => ({ cwd: 'sub/deep' }) })).toBe(`${cwd}/sub/deep\n`);
    const { output } = await callTool({ sandbox }, { command: 'pwd', cwd: 'gone' });
    expect(output).toMatchObject({ code: 'ERR_BASH_CWD_NOT_FOUND' });
  });

  it('of this machine does not affect the judgement', async () => {
    const told: unknown[] = [];
    const sandbox: ToolSandbox = {
      async run(command) {
        told.push(command);
        return { exitCode: 0, stdout: '', stderr: '' };
      },
    };
    // The directory of the project, here; in the sandbox a path as any other.
    const command = `rm -rf ${process.cwd()}/node_modules`;
    const { notes } = await runTool({ sandbox }, command);
    const { findings } = analyze(command, { cwd: '/sandbox', home: '/sandbox-home', env: {} });
    expect(notes.length).toBe(findings.length);
    await runTool({ sandbox, cwd: '/work' }, 'true');
    expect(told).toMatchObject([{}, { workingDirectory: '/work' }]);
    expect(told[0]).not.toHaveProperty('workingDirectory');
    const { output } = await callTool({ sandbox, safety: { onAsk: 'deny' } }, 'cd / && rm -rf *');
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  });
});

it('variables of this machine do not affect the judgement', async () => {
  process.env.TEST_JUDGED = 'git add -A';
  onTestFinished(() => {
    delete process.env.TEST_JUDGED;
  });
  expect((await callTool({ cwd: folder() }, '$TEST_JUDGED')).output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  const sandbox = await justBash();
  expect(await runTool({ sandbox }, '$TEST_JUDGED')).toMatchObject({ exitCode: 0, stdout: '' });
  const { output } = await callTool({ sandbox, env: { TEST_JUDGED: 'git add -A' } }, '$TEST_JUDGED');
  expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
});

it('an approval judges as the sandbox will be asked', async () => {
  const bashTool = createBashTool({ sandbox: localSession() });
  const approval = createToolApproval({ tool: bashTool });
  expect(await approval({ command: 'git add -A' })).toMatchObject({ type: 'user-approval' });
  expect(await approval({ command: 'git push --force' })).toMatchObject({ type: 'denied' });
  expect(await approval({ command: 'ls' })).toBe('not-applicable');
  const { analysis } = await approval.judge({ command: 'ls', cwd: 'sub' });
  expect(analysis?.cwd).toBe('/sandbox/sub');
});

describe('options that no sandbox has', () => {
  it.each<[string, BashToolOptions]>([
    ['args', { args: ['a'] }],
    ['stdin', { stdin: 'x' }],
    ['merge', { merge: true }],
    ['shell', { shell: 'bash' }],
    ['limits', { limits: { processes: 3 } }],
  ])('%s is an error, and nothing runs', async (name, options) => {
    const { output } = await callTool({ sandbox: localSession(), ...options }, 'true');
    expect(output).toEqual({ error: `in a sandbox there is no ${name}`, code: 'ERR_BASH_UNSUPPORTED' });
  });

  it.each<[string, BashToolOptions, string]>([
    ['true', { timeoutMs: 0 }, 'timeoutMs'],
    ['true', { timeoutMs: 1e9 }, 'timeoutMs'],
    ['true', { graceMs: -1 }, 'graceMs'],
    ['true', { spill: { maxBytes: 0 } }, 'spill.maxBytes'],
    ['true', { env: 'A=1' as never }, 'env'],
    ['true', { env: { A: 1 as never } }, 'env.A'],
    ['true', { sanitize: 'yes' as never }, 'sanitize'],
    ['true', { cwd: 1 as never }, 'cwd'],
    ['a\0b', {}, 'NUL'],
  ])('%j with %j is refused, as on this machine', async (command, options, name) => {
    const { output } = await callTool({ sandbox: localSession(), ...options }, command);
    expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: expect.stringContaining(name) });
    const here = await callTool(options, command);
    expect({ ...output, error: 0 }).toEqual({ ...here.output, error: 0 });
  });

  it('a session and a terminal are left out, with a note', async () => {
    await using session = new BashSession();
    const cwd = folder();
    const result = await runTool({ sandbox: localSession(cwd), session, terminal: {} }, 'pwd; X=1');
    expect(result.stdout).toBe(`${cwd}\n`);
    expect(result.notes).toEqual([
      'the command ran in the sandbox and not in the session of this tool',
      'the command ran in the sandbox and not in the terminal of this tool',
    ]);
    expect((await session.run('echo "[$X]"')).stdout).toBe('[]\n');
  });
});

it('the description says where commands run, and what does not work there', () => {
  const { description } = createBashTool({ sandbox: localSession('/usr'), cwd: 'share' });
  expect(description).toMatch(/^Runs a command with bash -c in a sandbox/);
  expect(description).toContain('check_pid, kill_pid and wait_pid do not work');
  expect(description).toContain('Root directory: /usr.');
  expect(description).toMatch(/<pwd>share<\/pwd>$/);
  const bare = createBashTool({ sandbox: localRunner(), mode: 'slow' }).description;
  expect(bare).not.toMatch(/<pwd>|<sandbox>/);
  expect(bare).toContain('The time limit is 15 min');
});

it('the shells of the providers run there, too', async () => {
  const cwd = folder();
  const sandbox = localSession(cwd);
  const last = async (outputs: AsyncIterable<unknown>) => {
    let output: unknown;
    for await (const each of outputs) output = each;
    return output;
  };
  const call = { toolCallId: '1' };
  expect(await last(anthropicBash({ sandbox }).execute({ command: 'pwd' }, call))).toMatchObject({
    stdout: `${cwd}\n`,
  });
  const shell = openaiShell().execute({ action: { commands: ['pwd'] } }, { ...call, experimental_sandbox: sandbox });
  expect(await last(shell)).toMatchObject({ output: [{ stdout: `${cwd}\n`, outcome: { type: 'exit', exitCode: 0 } }] });
});

it('hooks are asked as ever', async () => {
  const seen: unknown[] = [];
  const result = await runTool(
    {
      sandbox: localSession(),
      onBeforeRun: ({ command }) => ({ command: `${command} there` }),
      onAfterRun: ({ command, result }) => void seen.push(command, 'exitCode' in result && result.exitCode),
    },
    'echo',
  );
  expect(result.stdout).toBe('there\n');
  expect(seen).toEqual(['echo there', 0]);
});
