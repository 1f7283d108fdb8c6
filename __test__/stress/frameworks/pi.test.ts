import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FauxResponseStep,
  fauxAssistantMessage,
  fauxProvider,
  fauxToolCall,
} from '@earendil-works/pi-ai/providers/faux';
import {
  type AgentSession,
  createAgentSession,
  createBashTool,
  DefaultResourceLoader,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from '@earendil-works/pi-coding-agent';
import { type PiApi, piExtension, piOperations } from 'agent-bash/pi';
import { expect, it, vi } from 'vitest';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, finished, folder, settles, until } from '../../support/index.ts';
import { printedByPage } from './support.ts';

type Options = Parameters<typeof piExtension>[0];
interface Answer {
  isError: boolean;
  text: string;
  details: Record<string, unknown> & { result?: Record<string, unknown> };
}

/** Runs an extension in a session of pi, with a model that says what the test tells. */
async function opened(extension: (pi: PiApi) => void, cwd = folder()) {
  const agentDir = join(cwd, '.agent');
  const faux = fauxProvider();
  const modelRuntime = await ModelRuntime.create({
    authPath: join(agentDir, 'auth.json'),
    modelsPath: join(agentDir, 'models.json'),
  });
  modelRuntime.registerNativeProvider(faux.provider);
  const settingsManager = SettingsManager.inMemory({});
  const resourceLoader = new DefaultResourceLoader({
    cwd,
    agentDir,
    settingsManager,
    noExtensions: true,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
    extensionFactories: [extension],
  });
  await resourceLoader.reload();
  const { session, extensionsResult } = await createAgentSession({
    cwd,
    agentDir,
    modelRuntime,
    resourceLoader,
    settingsManager,
    model: faux.getModel(),
    sessionManager: SessionManager.inMemory(cwd),
  });
  expect(extensionsResult.errors).toEqual([]);
  const errors: unknown[] = [];
  await session.bindExtensions({ onError: (error) => errors.push(error) });
  const shutdown = () => session.extensionRunner.emit({ type: 'session_shutdown', reason: 'quit' });
  finished(async () => {
    await session.abort();
    await shutdown();
    session.dispose();
  });
  return { cwd, session, faux, errors, shutdown };
}

const says = (...inputs: Record<string, unknown>[]) =>
  fauxAssistantMessage(
    inputs.map((input) => fauxToolCall('bash', input)),
    { stopReason: 'toolUse' },
  );

function answers(session: AgentSession): Answer[] {
  return session.messages.flatMap((message) => {
    if (message.role !== 'toolResult') return [];
    const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return [{ isError: message.isError, text, details: (message.details ?? {}) as Answer['details'] }];
  });
}

/** Runs one command as a model, and returns what the model gets. */
async function ran(options: Options, input: Record<string, unknown> | string, cwd = folder()): Promise<Answer> {
  const { session, faux } = await opened(piExtension(options), cwd);
  faux.setResponses([says(typeof input === 'string' ? { command: input } : input), fauxAssistantMessage('done')]);
  await settles(session.prompt('go'));
  return answers(session)[0] as Answer;
}

/** Runs one command by pi's own tool with our operations. */
async function operated(command: string, o: { options?: Parameters<typeof piOperations>[0]; timeout?: number } = {}) {
  const cwd = folder();
  const abort = new AbortController();
  const updates: string[] = [];
  const tool = createBashTool(cwd, { operations: piOperations({ cwd, ...o.options }) });
  const running = tool.execute('1', { command, timeout: o.timeout }, abort.signal, ({ content: [first] }) => {
    if (first?.type === 'text') updates.push(first.text);
  });
  const text = running.then(({ content: [first] }) => (first?.type === 'text' ? first.text : ''));
  text.catch(() => {});
  return { cwd, abort, updates, text };
}

it("pi's tool gets the output of both streams in the order of writing, with its own texts", async () => {
  expect(await (await operated('echo a; echo b >&2; echo c')).text).toBe('a\nb\nc\n');
  await expect((await operated('echo a; exit 3')).text).rejects.toThrow(/^a\n\n\nCommand exited with code 3$/);
});

it('the exit code after a signal is 128 + n', async () => {
  await expect((await operated('kill -9 $$')).text).rejects.toThrow('Command exited with code 137');
});

it('the limit is reached: the whole tree is ended', async () => {
  const { cwd, text } = await operated(WITH_CHILD, { timeout: 1.5 });
  await expect(settles(text)).rejects.toThrow('Command timed out after 1.5 seconds');
  await gone(await pidIn(cwd));
});

it('a command is aborted: the whole tree is ended', async () => {
  const { cwd, text, abort } = await operated(WITH_CHILD);
  const pid = await pidIn(cwd);
  abort.abort();
  await expect(settles(text)).rejects.toThrow('Command aborted');
  await gone(pid);
});

it('a held pipe does not keep a call', async () => {
  const { cwd, text } = await operated(HELD_PIPE);
  expect(await settles(text)).toMatch(/^first\nlast\n/);
  process.kill(await pidIn(cwd));
});

it('an unfinished line arrives at once', async () => {
  const { updates, text, abort } = await operated(`printf 'Password: '; sleep 1000`);
  await until(() => updates.includes('Password: '), 'the prompt');
  abort.abort();
  await text.catch(() => {});
});

it('a large output is cut by pi, and all of it is in its file', async () => {
  const text = await (await operated('seq 200000')).text;
  expect(text).toMatch(/\n200000\n+\[Showing lines \d+-\d+ of \d+.*Full output: (\S+)\]$/s);
  const file = await readFile(/Full output: (\S+)\]$/.exec(text)?.[1] ?? '', 'utf8');
  expect(file.split('\n').slice(-2)).toEqual(['200000', '']);
});

it('secrets of the host: they are withheld, and what pi sets is there', async () => {
  vi.stubEnv('EXAMPLE_API_KEY', 'secret');
  finished(() => vi.unstubAllEnvs());
  const { text } = await operated('echo "[$EXAMPLE_API_KEY][$MADE]"', { options: { env: { MADE: 'yes' } } });
  expect(await text).toBe('[][yes]\n');
  const spawned = createBashTool(folder(), {
    operations: piOperations(),
    spawnHook: (given) => ({ ...given, env: { ...given.env, HOOKED: 'too', HOME: undefined } }),
  });
  const { content } = await spawned.execute('1', { command: 'echo "[$EXAMPLE_API_KEY][$HOOKED][$HOME]"' });
  expect(content).toEqual([{ type: 'text', text: '[][too][]\n' }]);
});

it('what the confinement denied follows the output', async () => {
  const { text } = await operated('echo x > /etc/agent-bash-pi-denied; true', {
    options: { confine: 'workspace' },
  });
  expect(await text).toMatch(/\[.*denied/is);
});

it('a refusal says why, and nothing starts', async () => {
  const { text } = await operated('rm -rf /', { options: {} });
  await expect(text).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  const options = { approval: { deny: ['touch:*'] } };
  const denied = await operated('touch made', { options });
  await expect(denied.text).rejects.toThrow(/touch/);
  expect(readdirSync(denied.cwd)).toEqual([]);
});

it('a limit that is no positive number of seconds is an error', async () => {
  const call = { onData: () => {}, timeout: -1 };
  await expect(piOperations().exec('true', '/', call)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
});

it('wrong options are errors at once', () => {
  refuses(() => piExtension({ confin: 'workspace' } as never), 'ERR_BASH_INVALID_ARG', 'confine');
  refuses(() => piOperations({ confin: 'workspace' } as never), 'ERR_BASH_INVALID_ARG', 'confine');
  refuses(() => piOperations({ mode: 'background' }), 'ERR_BASH_UNSUPPORTED', 'background');
});

it('the tool of the extension replaces that of pi, and runs in the directory of the session', async () => {
  const { session, faux, cwd, errors } = await opened(piExtension());
  const { description, parameters } = session.getToolDefinition('bash') ?? {};
  expect(description).toContain(`<pwd>${cwd}</pwd>`);
  expect(Object.keys((parameters as unknown as { properties: object }).properties).slice(0, 3)).toEqual([
    'command',
    'timeout',
    'mode',
  ]);
  faux.setResponses([says({ command: 'pwd; exit 3' }), fauxAssistantMessage('done')]);
  await session.prompt('go');
  const [answer] = answers(session);
  expect(answer?.text).toContain(cwd);
  expect(answer?.text).toContain('exit code 3');
  expect(answer?.details.result).toMatchObject({ exitCode: 3, status: 'exited' });
  expect(errors).toEqual([]);
});

it('with errorOnFailure a non-zero exit code is an error', async () => {
  expect(await ran({ errorOnFailure: true }, 'exit 3')).toMatchObject({ isError: true });
  expect(await ran({}, 'exit 3')).toMatchObject({ isError: false });
});

it('the limit of a call is in seconds', async () => {
  const { details, text } = await ran({}, { command: 'sleep 1000', timeout: 1 });
  expect(details.result).toMatchObject({ status: 'timed-out', timeoutMs: 1_000, exitCode: 124 });
  expect(text).toContain('timed out after 1s');
});

it('an abort of the session ends the whole tree of a call', async () => {
  const { session, faux, cwd } = await opened(piExtension());
  faux.setResponses([says({ command: WITH_CHILD }), fauxAssistantMessage('done')]);
  const running = session.prompt('go');
  const pid = await pidIn(cwd);
  await settles(session.abort());
  await running;
  await gone(pid);
});

it('the extension says where the whole of a large output is', async () => {
  const { details, text } = await ran({}, 'seq 200000');
  const path = details.fullOutputPath as string;
  expect(text).toContain(path);
  expect((await readFile(path, 'utf8')).length).toBeGreaterThan(1_000_000);
});

it('what a command reaches: the model is told of what the confinement denied, and of a refusal', async () => {
  const denied = await ran({ confine: 'workspace' }, 'echo x > /etc/agent-bash-pi-denied');
  expect(denied.text).toContain('[confined: write /etc/agent-bash-pi-denied denied');
  const refused = await ran({}, 'rm -rf /');
  expect(refused.isError).toBe(true);
});

it('a command that needs an answer is blocked without a person', async () => {
  const cwd = folder();
  const { isError, text } = await ran({ approval: { ask: ['touch:*'] } }, 'touch made', cwd);
  expect([isError, text]).toEqual([true, expect.stringContaining('nobody can be asked here')]);
  expect(readdirSync(cwd)).not.toContain('made');
});

it("pi's own dialog asks, before the command starts", async () => {
  const { session, faux, cwd } = await opened(piExtension({ approval: { ask: ['echo:*'] } }));
  const asked: string[] = [];
  const confirm = async (_title: string, message: string) => {
    asked.push(message);
    return asked.length === 1;
  };
  session.extensionRunner.setUIContext({ ...session.extensionRunner.getUIContext(), confirm }, 'rpc');
  faux.setResponses([says({ command: 'echo one' }, { command: 'echo two > made' }), fauxAssistantMessage('done')]);
  await session.prompt('go');
  expect(asked).toEqual([expect.stringContaining('echo one'), expect.stringContaining('echo two')]);
  const [first, second] = answers(session);
  expect(first).toMatchObject({ isError: false, text: expect.stringContaining('one') });
  expect(second).toMatchObject({ isError: true });
  await expect(readFile(join(cwd, 'made'))).rejects.toThrow();
});

it('onAsk is asked before the dialog, once for each command', async () => {
  const asked: string[] = [];
  const onAsk = ({ command, toolCallId }: { command: string; toolCallId: string }) => {
    asked.push(`${command} ${toolCallId === ''}`);
    return true;
  };
  expect(await ran({ approval: { ask: ['echo:*'], onAsk } }, 'echo one')).toMatchObject({ isError: false });
  expect(asked).toEqual(['echo one false']);
});

it("a person's command: it is run by our shell, and denied by its confinement", async () => {
  const { session, cwd } = await opened(
    piExtension({ confine: 'workspace', approval: { ask: ['echo:*'], deny: ['date:*'] } }),
  );
  const own = { type: 'user_bash' as const, excludeFromContext: false, cwd };
  const run = async (command: string) => {
    const handled = await session.extensionRunner.emitUserBash({ ...own, command });
    return await session.executeBash(command, undefined, { operations: handled?.operations });
  };
  expect(await run('echo hi; pwd')).toMatchObject({ output: `hi\n${cwd}\n`, exitCode: 0 });
  const { output } = await run('echo x > /etc/agent-bash-pi-denied');
  expect(output).toContain('[confined: write /etc/agent-bash-pi-denied denied');
  await expect(run('date')).rejects.toThrow(/date/);
});

it('a process in the background: its end gives the model a turn, once', async () => {
  const { session, faux } = await opened(piExtension());
  let told = '';
  const woken: FauxResponseStep = (context) => {
    told = JSON.stringify(context.messages.at(-1));
    return fauxAssistantMessage('I see');
  };
  faux.setResponses([
    says({ command: 'sleep 0.5; exit 4', mode: 'background' }),
    fauxAssistantMessage('waiting'),
    woken,
  ]);
  await session.prompt('go');
  await until(() => told !== '', 'the model is woken');
  expect(told).toMatch(/Background process \d+ \(sleep 0.5; exit 4\) has ended: failed: exit code 4/);
  await session.waitForIdle?.();
});

it('a task that the model has ended does not wake it', async () => {
  const { session, faux } = await opened(piExtension());
  const stop: FauxResponseStep = () => says({ kill_pid: pidOf(session) });
  faux.setResponses([says({ command: 'sleep 1000', mode: 'background' }), stop, fauxAssistantMessage('done')]);
  await session.prompt('go');
  await gone(pidOf(session));
  expect(answers(session)[1]?.text).toContain('was killed');
  expect(session.messages.filter(({ role }) => role === 'custom')).toEqual([]);
});

it('the end of a session ends its tasks', async () => {
  const { session, faux, shutdown, errors } = await opened(piExtension());
  faux.setResponses([says({ command: 'sleep 1000', mode: 'background' }), fauxAssistantMessage('done')]);
  await session.prompt('go');
  const pid = pidOf(session);
  expect(alive(pid)).toBe(true);
  await settles(shutdown());
  expect(alive(pid)).toBe(false);
  expect(errors).toEqual([]);
});

it('the example of the page runs', async () => {
  const [[listed = '']] = (await printedByPage('pi.md', { 'model.js': MODEL })) as [string[]];
  expect(listed).toBe('bash: a-name');
}, 120_000);

/** The model of the page. */
const MODEL = `
import { fauxAssistantMessage, fauxProvider, fauxToolCall } from '@earendil-works/pi-ai/providers/faux';
import { ModelRuntime } from '@earendil-works/pi-coding-agent';
const faux = fauxProvider();
export const modelRuntime = await ModelRuntime.create({ authPath: 'auth.json', modelsPath: 'models.json' });
modelRuntime.registerNativeProvider(faux.provider);
export const model = faux.getModel();
const call = fauxToolCall('bash', { command: 'echo a-name' });
faux.setResponses([fauxAssistantMessage([call], { stopReason: 'toolUse' }), fauxAssistantMessage('done')]);
`;

function pidOf(session: AgentSession): number {
  return ((answers(session)[0] as Answer).details.result as { pid: number }).pid;
}
