import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CanUseTool, createSdkMcpServer, type Options, query } from '@anthropic-ai/claude-agent-sdk';
import { claudeApproval, claudeShell, claudeSpawn, type Question } from 'agent-bash/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, finished, folder, hostEnv, until } from '../../support/index.ts';
import { printedByPage } from './support.ts';

const CLAUDE_CODE = join(import.meta.dirname, 'claude-code.mjs');
const NODE = process.execPath;

type ShellOptions = Parameters<typeof claudeShell>[1];
type Step = { step: string; [name: string]: unknown };
/** The answer of a step: that of a tool, or what the step says itself. */
type Answer = Record<string, never> & {
  content: { text: string }[];
  isError: boolean;
  denied: string;
  _meta: { 'agent-bash/result': Record<string, unknown> };
};

/** Starts a query whose Claude Code does these steps. */
function started(steps: Step[], options: Options = {}) {
  const abortController = new AbortController();
  const executable = { pathToClaudeCodeExecutable: CLAUDE_CODE, executable: NODE as 'node' };
  const running = query({ prompt: JSON.stringify(steps), options: { ...executable, abortController, ...options } });
  finished(() => running.close());
  return { running, answers: answersOf(running) };
}

async function answersOf(running: AsyncIterable<{ type: string }>): Promise<Answer[]> {
  let answers: Answer[] = [];
  for await (const message of running as AsyncIterable<{ type: string; result: string }>) {
    if (message.type === 'result') answers = JSON.parse(message.result);
  }
  return answers;
}

function shellOf(options: ShellOptions = {}) {
  const shell = claudeShell(createSdkMcpServer, { cwd: folder(), ...options });
  finished(() => shell.close());
  return shell;
}

const connect = { step: 'tools', server: 'agent_bash' };
const bash = (input: object, more: object = {}) => ({ step: 'call', tool: 'Bash', input, ...more });

/** Runs the calls in the shell, and returns their answers. */
async function called(calls: Step[], options: ShellOptions = {}, more: Options = {}): Promise<Answer[]> {
  return (await started([connect, ...calls], { ...shellOf(options).options, ...more }).answers).slice(1);
}

/** Runs one command in the shell. */
async function ran(command: string, options: ShellOptions = {}, more: object = {}): Promise<Answer & { text: string }> {
  const [answer] = await called([bash({ command }, more)], options);
  return { ...(answer as Answer), text: answer?.content?.[0]?.text ?? '' };
}

describe('the shell', () => {
  it('has bash and bash_tasks, which are always loaded', async () => {
    const [tools] = (await started([connect], shellOf().options).answers) as unknown as [
      { name: string; _meta: object }[],
    ];
    expect(tools.map(({ name }) => name)).toEqual(['bash', 'bash_tasks']);
    for (const { _meta } of tools) expect(_meta).toEqual({ 'anthropic/alwaysLoad': true });
  });

  it.each([
    ['replace', true],
    ['alias', false],
  ] as const)('%s leads calls of Bash here', async (builtin, disallowed) => {
    const [setUp, answer] = await called([{ step: 'setUp' }, bash({ command: 'echo here' })], { builtin });
    expect(setUp).toMatchObject({ toolAliases: { Bash: 'mcp__agent_bash__bash' } });
    expect((setUp as unknown as { argv: string[] }).argv.includes('--disallowedTools=Bash')).toBe(disallowed);
    expect(answer?.content).toEqual([{ type: 'text', text: 'here' }]);
  });

  it('the model reads the text alone, and programs the result', async () => {
    const answer = await ran('echo out; echo err >&2; exit 3');
    expect(answer.text).toBe('[command failed: exit code 3]\n\nstdout:\nout\n\nstderr:\nerr');
    expect(answer).toMatchObject({ isError: false, _meta: { 'agent-bash/result': { exitCode: 3, stdout: 'out\n' } } });
    expect(answer).not.toHaveProperty('structuredContent');
  });

  it('an error means that nothing ran', async () => {
    const answer = await ran('rm -rf /');
    expect(answer).toMatchObject({ isError: true, _meta: { 'agent-bash/result': { code: 'ERR_BASH_BLOCKED' } } });
    expect(answer.text).toContain('rm');
  });

  it('understands the keys of Claude Code', async () => {
    const [limited, ours, outside] = await called([
      bash({ command: 'sleep 1000', timeout: 1_000, description: 'sleeps' }),
      bash({ command: 'true', timeout: 5_000, timeout_ms: 6_000 }),
      bash({ command: 'true', dangerouslyDisableSandbox: true }),
    ]);
    expect(limited).toMatchObject({
      _meta: { 'agent-bash/result': { status: 'timed-out', exitCode: 124, notes: [] } },
    });
    expect(ours).toMatchObject({ _meta: { 'agent-bash/result': { timeoutMs: 6_000 } } });
    expect(outside?.content[0]?.text).toContain('[ignored input: dangerouslyDisableSandbox]');
  });

  it('run_in_background starts a task, which close ends', async () => {
    const cwd = folder();
    const shell = shellOf({ cwd });
    const steps = [
      connect,
      bash({ command: WITH_CHILD, run_in_background: true }),
      { step: 'call', tool: 'mcp__agent_bash__bash_tasks', input: {} },
    ];
    const [, start, tasks] = await started(steps, shell.options).answers;
    expect(start).toMatchObject({ _meta: { 'agent-bash/result': { status: 'backgrounded' } } });
    expect(tasks?.content[0]?.text).toMatch(/^\d+ running: setsid sleep/);
    const child = await pidIn(cwd);
    await shell.close();
    await gone(child);
  });

  it('the limit is that of the description', async () => {
    const timeoutMs = async (options: ShellOptions) =>
      (await ran('true', options))._meta['agent-bash/result'].timeoutMs;
    expect(await timeoutMs({})).toBe(30_000);
    expect(await timeoutMs({ builtin: 'alias' })).toBe(120_000);
    expect(await timeoutMs({ builtin: 'alias', timeoutMs: 7_000 })).toBe(7_000);
  });

  it('an interruption ends the whole tree', async () => {
    const cwd = folder();
    const { running, answers } = started([connect, bash({ command: WITH_CHILD })], shellOf({ cwd }).options);
    const child = await pidIn(cwd);
    await running.interrupt();
    expect((await answers)[1]).toEqual({ interrupted: true });
    await gone(child);
  });

  it('the end of the query ends the whole tree', async () => {
    const cwd = folder();
    const { running, answers } = started([connect, bash({ command: WITH_CHILD })], shellOf({ cwd }).options);
    const child = await pidIn(cwd);
    running.close();
    await gone(child);
    await answers.catch(() => {});
  });

  it('serves queries one after another', async () => {
    const shell = shellOf();
    for (const word of ['one', 'two']) {
      const [, answer] = await started([connect, bash({ command: `echo ${word}` })], shell.options).answers;
      expect(answer?.content[0]?.text).toBe(word);
    }
  });

  it('a child holds the output: the call returns with the shell', async () => {
    const cwd = folder();
    const shell = shellOf({ cwd });
    const [, answer] = await started([connect, bash({ command: HELD_PIPE })], shell.options).answers;
    expect(answer?.content[0]?.text).toMatch(/first\nlast/);
    const child = await pidIn(cwd);
    expect(alive(child)).toBe(true);
    await shell.close();
    await gone(child);
  });

  it('a large output is cut, and the file has the whole', async () => {
    const answer = await ran('seq 200000');
    expect(answer.text).toContain('\n200000');
    expect(answer.text.length).toBeLessThan(60_000);
  });

  it('the confinement denies something: the model reads what', async () => {
    const { text } = await ran('touch /etc/agent-bash-test', { confine: 'workspace' });
    expect(text).toContain('[confined: write /etc/agent-bash-test denied (touch)]');
  });

  it('a command changed files: a receipt names them', async () => {
    const { text } = await ran('echo new > a.txt', { receipt: 'exact' });
    expect(text).toContain('[changed: 1 created (a.txt)');
  });

  it('a change was wrong: undo_run takes it back', async () => {
    const cwd = folder();
    const { _meta } = await ran('echo new > a.txt', { cwd, undo: 'always' });
    const [undone] = await called([bash({ undo_run: _meta['agent-bash/result'].runId })], { cwd, undo: 'always' });
    expect(undone?.isError).toBe(false);
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false);
  });

  it('tells of a running command, if Claude Code asks for progress', async () => {
    const path = join(folder(), 'progress');
    const command = `echo begun; until test -s ${path}; do sleep 0.05; done`;
    const env = { ...process.env, PROGRESS_TO: path };
    await called([bash({ command }, { progress: true })], {}, { env });
    expect(readFileSync(path, 'utf8')).toContain('"message":"begun"');
  });
});

describe('the approval', () => {
  const approval = (onAsk: (question: Question) => unknown) => ({
    allow: ['read-only'],
    deny: ['git push:*'],
    onAsk: onAsk as never,
  });

  it('asks once about a call, with the id that Claude Code gives it', async () => {
    const questions: Question[] = [];
    const cwd = folder();
    const onAsk = (question: Question) => questions.push(question) > 0;
    const answer = await ran('touch a', { cwd, approval: approval(onAsk) }, { id: 'toolu_1' });
    expect(answer.isError).toBe(false);
    expect(questions).toMatchObject([{ command: 'touch a', cwd, toolCallId: 'toolu_1' }]);
  });

  it('decides at the call itself, if Claude Code has not asked', async () => {
    const questions: Question[] = [];
    const calls = [
      bash({ command: 'touch a' }, { asks: false, id: 'toolu_1' }),
      bash({ command: 'git push' }, { asks: false }),
    ];
    const onAsk = (question: Question) => questions.push(question) > 0;
    const [touched, pushed] = await called(calls, { approval: approval(onAsk) });
    expect(touched?.isError).toBe(false);
    expect(questions).toMatchObject([{ toolCallId: 'toolu_1' }]);
    expect(pushed).toMatchObject({ isError: true, _meta: { 'agent-bash/result': { code: 'ERR_BASH_BLOCKED' } } });
  });

  it('a person answers «always»: rules are allowed, and never the whole tool', async () => {
    let asked = 0;
    const onAsk = () => {
      asked++;
      return 'always';
    };
    const calls = ['touch a', 'touch b'].map((command) => bash({ command }));
    const answers = await called(calls, { approval: approval(onAsk) });
    expect(answers.map(({ isError }) => isError)).toEqual([false, false]);
    expect(asked).toBe(1);
  });

  it('a denied command has the reason as message and never starts', async () => {
    const cwd = folder();
    const refusing = approval(() => ({ approved: false, reason: 'not today' }));
    const [pushed, touched] = await called([bash({ command: 'git push' }), bash({ command: 'touch a' })], {
      cwd,
      approval: refusing,
    });
    expect(pushed?.denied).toContain('git push:*');
    expect(touched?.denied).toContain('not today');
    expect(existsSync(join(cwd, 'a'))).toBe(false);
  });

  it('other tools go to `otherwise`, and so does ours on a server of a configuration', async () => {
    const heard: string[] = [];
    const otherwise: CanUseTool = async (name, input) => {
      heard.push(name);
      return { behavior: 'allow', updatedInput: input };
    };
    const calls = [
      { step: 'call', tool: 'Read', input: {} },
      bash({ command: 'echo ran' }, { source: 'project' }),
      bash({ command: 'echo ran' }, { source: null }),
    ];
    const [read] = await called(calls, { otherwise });
    expect(read).toEqual({ ran: 'Read' });
    expect(heard).toEqual(['Read', 'mcp__agent_bash__bash']);
    const [alone, foreign, old] = await called(calls);
    expect(alone?.denied).toContain('nobody decides about the tool Read');
    expect(foreign?.denied).toContain('mcp__agent_bash__bash');
    expect(old?.content[0]?.text).toBe('ran');
  });

  it('judges the commands of the shell of Claude Code by itself', async () => {
    const canUseTool = claudeApproval({ allow: ['read-only'], deny: ['git push:*'], onAsk: () => false });
    const commands = ['ls', 'git push', 'touch a', 'rm -rf /'];
    const calls = commands.map((command) => bash({ command, description: 'x' }));
    const answers = await started(calls, { canUseTool }).answers;
    expect(answers[0]).toEqual({ ran: 'Bash' });
    expect(answers.slice(1).map(({ denied }) => typeof denied)).toEqual(['string', 'string', 'string']);
  });
});

describe('the process', () => {
  type SpawnOptions = Parameters<typeof claudeSpawn>[0];
  /** Starts a query whose whole Claude Code runs with these options. */
  function spawned(steps: Step[], options: SpawnOptions = {}, more: Options = {}) {
    return started(steps, { cwd: folder(), ...more, spawnClaudeCodeProcess: claudeSpawn(options) });
  }

  it('carries the shell of the agent', async () => {
    const { options } = shellOf();
    const [, answer] = await spawned([connect, bash({ command: 'echo through' })], {}, options).answers;
    expect(answer?.content[0]?.text).toBe('through');
  });

  it('has exactly the environment and the directory that the SDK gives', async () => {
    const cwd = folder();
    const env = { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'sk-test', EDITOR: 'vi', OWN: 'a b' };
    const [theirs, where] = await started([{ step: 'env' }, { step: 'cwd' }], { cwd, env }).answers;
    const [ours, here] = await spawned([{ step: 'env' }, { step: 'cwd' }], {}, { cwd, env }).answers;
    const { AGENT_BASH_ID, PWD, SHLVL, _, ...rest } = ours as Record<string, unknown>;
    expect(rest).toEqual(theirs);
    expect(here).toEqual(where);
  });

  it('a hook or an MCP server reaches out: the whole Claude Code is confined', async () => {
    const cwd = folder();
    const ends: unknown[] = [];
    const steps = ['/etc/agent-bash-test', join(cwd, 'inside')].map((path) => ({ step: 'write', path }));
    const [outside, inside] = await spawned(steps, { confine: 'workspace', onExit: (end) => ends.push(end) }, { cwd })
      .answers;
    expect([outside, inside]).toEqual([expect.stringMatching(/^(EACCES|EROFS|EPERM)$/), 'written']);
    expect(ends).toMatchObject([{ exitCode: 0, signal: null, confinement: { profile: 'workspace' } }]);
  });

  it('has its limits', async () => {
    const ends: object[] = [];
    const { answers } = spawned([{ step: 'hang' }], { timeoutMs: 1_500, onExit: (end) => ends.push(end) });
    await expect(answers).rejects.toThrow(/SIGTERM|124/);
    expect(ends).toHaveLength(1);
  });

  it('an exit code and a signal are the real ones', async () => {
    await expect(spawned([{ step: 'exit', code: 7 }]).answers).rejects.toThrow('exited with code 7');
    await expect(spawned([{ step: 'die', signal: 'SIGUSR2' }]).answers).rejects.toThrow('terminated by signal SIGUSR2');
  });

  it('an abort of the query ends the tree, also what it has put into a session of its own', async () => {
    const path = join(folder(), 'pid');
    const abortController = new AbortController();
    const { answers } = spawned([{ step: 'child', path }, { step: 'hang' }], {}, { abortController });
    const child = await pidIn(join(path, '..'));
    abortController.abort();
    await expect(answers).rejects.toThrow();
    await gone(child);
  });

  it('SIGKILL ends the tree of a Claude Code that hears nothing', async () => {
    const cwd = folder();
    const launch = { command: NODE, args: [CLAUDE_CODE], cwd, env: { PATH: process.env.PATH } };
    const claude = claudeSpawn()({ ...launch, signal: new AbortController().signal });
    const exits: unknown[] = [];
    claude.once('exit', (...end) => exits.push(end));
    const steps = [
      { step: 'deaf' },
      { step: 'child', path: join(cwd, 'pid') },
      { step: 'hang', path: join(cwd, 'own') },
    ];
    claude.stdin.write(`${JSON.stringify({ type: 'user', message: { content: JSON.stringify(steps) } })}\n`);
    await until(() => existsSync(join(cwd, 'own')), 'it hangs');
    const child = await pidIn(cwd);
    expect(claude.kill('SIGTERM')).toBe(true);
    expect([claude.killed, claude.exitCode, alive(child)]).toEqual([true, null, true]);
    claude.kill('SIGKILL');
    await until(() => exits.length > 0, 'it has ended');
    expect(exits).toEqual([[null, 'SIGKILL']]);
    expect([claude.exitCode, claude.signalCode]).toEqual([null, 'SIGKILL']);
    expect(alive(child)).toBe(false);
    expect(claude.kill('SIGTERM')).toBe(false);
  });

  it.each([
    ['a program that is missing', { command: '/missing/claude', args: [] }, 'ENOENT'],
    ['a program that cannot run', { command: '/etc/passwd', args: [] }, 'EACCES'],
    ['a directory that is missing', { command: NODE, args: [], cwd: '/missing' }, 'ERR_BASH_CWD_NOT_FOUND'],
  ])('%s is an error event', async (_, launch, code) => {
    const claude = claudeSpawn()({ env: {}, signal: new AbortController().signal, ...launch });
    const error = await new Promise((resolve) => claude.once('error', resolve));
    expect(error).toMatchObject({ code });
  });

  it('onStderr hears standard error, and large answers come whole', async () => {
    const said: string[] = [];
    const steps = [
      { step: 'stderr', text: 'é wörds' },
      { step: 'stdout', length: 3_000_000 },
    ];
    const [, large] = await spawned(steps, { onStderr: (text) => said.push(text) }).answers;
    expect((large as unknown as string).length).toBe(3_000_000);
    expect(said.join('')).toBe('é wörds');
  });
});

it('the examples of the page run', async () => {
  const steps = [connect, bash({ command: 'echo new > a.txt' }), { step: 'call', tool: 'Read', input: {} }];
  const claude = `
    export const claude = { pathToClaudeCodeExecutable: ${JSON.stringify(CLAUDE_CODE)} };
    export const prompt = PROMPT;`;
  const home = folder();
  mkdirSync(join(home, '.claude'));
  hostEnv({ HOME: home });
  const [shell, spawned] = await printedByPage('claude-agent-sdk.md', {
    'claude.js': claude.replace('PROMPT', `process.argv[1].includes('-0') ? ${prompt(steps)} : '[]'`),
  });
  expect(shell).toEqual(['echo new > a.txt → 0', 'success']);
  expect(spawned).toEqual(['success', 'ended 0 workspace']);
}, 120_000);

function prompt(steps: Step[]): string {
  return JSON.stringify(JSON.stringify(steps));
}
