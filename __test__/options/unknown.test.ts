import {
  analyze,
  BackgroundRegistry,
  BashError,
  BashSession,
  bash,
  decide,
  PtySession,
  undo,
  undoPoints,
  warmUp,
} from 'agent-bash';
import { createBashTool, createTerminalTool, createToolApproval } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { agentSandboxes } from 'agent-bash/kubernetes';
import { registerBashTools } from 'agent-bash/mcp';
import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { instrument } from 'agent-bash/otel';
import { startPage } from 'agent-bash/page';
import { renderHtml, renderText } from 'agent-bash/render';
import { createLocalSandbox, createLocalSandboxSession, createSandbox, createSandboxSession } from 'agent-bash/sandbox';
import { slurmJobs } from 'agent-bash/slurm';
import { afterAll, describe, expect, it } from 'vitest';

const registry = new BackgroundRegistry();
afterAll(() => registry.close());
const session = new BashSession();
const terminal = new PtySession();

/** There is nothing to undo here. */
function unlessUndo(error: BashError): void {
  if (error.code !== 'ERR_BASH_UNDO') throw error;
}

/** Every function and class that takes options: its name, a call with them, an option, and a wrong spelling of that. */
const ENTRIES: [name: string, call: (options: never) => unknown, right: string, wrong: string][] = [
  ['bash', (options) => bash('exit 9', options), 'timeoutMs', 'timeout'],
  ['BashSession', (options) => new BashSession(options), 'cwd', 'Cwd'],
  ['BashSession.run', (options) => session.run('exit 9', options), 'env', 'environment'],
  ['PtySession', (options) => new PtySession(options), 'rows', 'row'],
  ['PtySession.wait', (options) => terminal.wait(options), 'idleMs', 'idle'],
  ['BackgroundRegistry', (options) => new BackgroundRegistry(options), 'maxTasks', 'maxtasks'],
  ['BackgroundRegistry.start', (options) => registry.start('exit 9', options), 'graceMs', 'grace_ms'],
  ['BackgroundRegistry.check', (options) => registry.check('t', options), 'cursor', 'curser'],
  ['BackgroundRegistry.wait', (options) => registry.wait('t', options), 'pattern', 'patern'],
  ['warmUp', (options) => warmUp(options), 'inheritEnv', 'inherit'],
  ['undo', (options) => undo('no-such-run', options).catch(unlessUndo), 'dryRun', 'dry'],
  ['undoPoints', (options) => undoPoints(options), 'cwd', 'Cwd'],
  ['analyze', (options) => analyze('ls', options), 'home', 'homeDir'],
  ['decide', (options) => decide(analyze('ls'), options), 'allow', 'allowed'],
  ['createBashTool', (options) => createBashTool(options), 'errorOnFailure', 'errorOnFailures'],
  ['createTerminalTool', (options) => createTerminalTool(options), 'perCall', 'percall'],
  ['createToolApproval', (options) => createToolApproval(options), 'deny', 'denied'],
  ['anthropicBash', (options) => anthropicBash(options), 'session', 'sesion'],
  ['openaiShell', (options) => openaiShell(options), 'truncate', 'truncation'],
  ['openaiLocalShell', (options) => openaiLocalShell(options), 'sanitize', 'sanitise'],
  ['agentsShell', (options) => agentsShell(options), 'registry', 'registery'],
  ['registerBashTools', (options) => registerBashTools(null as never, options), 'prefix', 'prefixes'],
  ['createLocalSandbox', (options) => createLocalSandbox(options), 'home', 'homeDir'],
  ['createLocalSandboxSession', (options) => createLocalSandboxSession(options), 'signal', 'abortSignal'],
  ['createSandbox', (options) => createSandbox(options), 'target', 'targets'],
  ['createSandboxSession', (options) => createSandboxSession(options), 'cwd', 'Cwd'],
  ['instrument', (options) => instrument(options), 'traceparent', 'traceParent'],
  ['startPage', async (options) => (await startPage(options)).close(), 'control', 'controls'],
  ['agentSandboxes', (options: object) => agentSandboxes({ warmPool: 'a', ...options }), 'namespace', 'namespaces'],
  ['slurmJobs', (options: object) => slurmJobs({ minutes: 1, ...options }), 'partition', 'partitions'],
  ['renderText', (options) => renderText({ command: 'x', result: null }, options), 'colour', 'color'],
  ['renderHtml', (options) => renderHtml({ command: 'x', result: null }, options), 'previewLines', 'preview'],
];

async function refusal(call: () => unknown): Promise<{ code?: string; message: string }> {
  try {
    await call();
  } catch (error) {
    return error as BashError;
  }
  return { message: 'nothing was thrown' };
}

describe('an option that does not exist', () => {
  it.each(ENTRIES)('is refused by %s, with the nearest one', async (name, call, right, wrong) => {
    expect(await refusal(() => call({ [wrong]: 1 } as never))).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: `${name}: unknown option "${wrong}": did you mean "${right}"?`,
    });
  });

  it.each(ENTRIES)(
    'is refused by %s though the others are right, and without one that is near',
    async (name, call, right) => {
      const { code, message } = await refusal(() => call({ [right]: undefined, qqqqqqqq: null } as never));
      expect(code).toBe('ERR_BASH_INVALID_ARG');
      expect(message).toMatch(new RegExp(`^${name}: unknown option "qqqqqqqq"; there are (\\w+, )*${right}\\b`));
    },
  );

  it('is a rejection of bash, and never a throw', async () => {
    const promise = bash('exit 9', { timeout: 1 } as never);
    await expect(promise).rejects.toBeInstanceOf(BashError);
  });

  it.each([
    ['truncate', { keep: 'tail', maxLine: 1 }, 'truncate.maxLine', 'truncate.maxLines'],
    ['sanitize', { ansii: true }, 'sanitize.ansii', 'sanitize.ansi'],
    ['spill', { directory: '/' }, 'spill.directory', 'spill.dir'],
    ['limits', { memory: 1 }, 'limits.memory', 'limits.memoryBytes'],
    ['confine', { writable: [] }, 'confine.writable', 'confine.write'],
    ['undo', { maxBytesOfFile: 1 }, 'undo.maxBytesOfFile', 'undo.maxBytes'],
  ])('inside %s is refused by bash and by a tool', async (option, value, wrong, right) => {
    const words = `unknown option "${wrong}": did you mean "${right}"?`;
    const given = { [option]: value } as never;
    expect((await refusal(() => bash('exit 9', given))).message).toBe(`bash: ${words}`);
    expect((await refusal(() => session.run('exit 9', given))).message).toBe(`BashSession.run: ${words}`);
    expect((await refusal(() => createBashTool(given))).message).toBe(`createBashTool: ${words}`);
  });

  it('inside safety is refused by bash, and is the error of each call of a tool', async () => {
    const given = { safety: { onask: 'deny' } } as never;
    const words = 'unknown option "safety.onask": did you mean "safety.onAsk"?';
    expect((await refusal(() => bash('exit 9', given))).message).toBe(`bash: ${words}`);
    for await (const output of createBashTool(given).execute({ command: 'exit 9' }, { toolCallId: '1' })) {
      expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: `bash: ${words}` });
    }
    // A replacement for bash judges by itself.
    const tool = createBashTool({ ...(given as object), run: async () => expect.unreachable() });
    for await (const output of tool.execute({ command: 'exit 9' }, { toolCallId: '1' })) {
      expect(output).toMatchObject({
        code: 'ERR_BASH_INVALID_ARG',
        error: 'safety: unknown option "onask": did you mean "onAsk"?',
      });
    }
  });

  it('inside terminal and in a rule of the interceptor is refused by a tool', async () => {
    const message = async (given: object) => (await refusal(() => createBashTool(given as never))).message;
    expect(await message({ terminal: { col: 80 } })).toMatch(
      'unknown option "terminal.col": did you mean "terminal.cols"?',
    );
    const rule = { pattern: 'a', tool: 'b', message: 'c', tools: 'd' };
    expect(await message({ interceptor: [rule] })).toBe('interceptor[0]: unknown option "tools": did you mean "tool"?');
  });

  it('of a call is refused by a tool', async () => {
    for (const name of ['signal', 'onOutput', 'onSnapshot', 'snapshotIntervalMs']) {
      const { message } = await refusal(() => createBashTool({ [name]: 1 } as never));
      expect(message, name).toMatch(`createBashTool: unknown option "${name}"`);
    }
  });

  it('from perCall is the error of the call, and nothing runs', async () => {
    const run = () => expect.unreachable();
    const tool = createBashTool({ run, perCall: () => ({ timeout: 5 }) as never });
    for await (const output of tool.execute({ command: 'true' }, { toolCallId: '1' })) {
      expect(output).toEqual({
        error: 'perCall: unknown option "timeout": did you mean "timeoutMs"?',
        code: 'ERR_BASH_INVALID_ARG',
      });
    }
  });

  it('is refused in whatever case and with whatever separators it comes', async () => {
    for (const name of ['TimeoutMs', 'timeout_ms', 'timeout-ms', 'timeoutms', 'tiemoutMs', 'timeoutMss', 'imeoutMs']) {
      const { message } = await refusal(() => bash('exit 9', { [name]: 1 } as never));
      expect(message, name).toBe(`bash: unknown option "${name}": did you mean "timeoutMs"?`);
    }
    for (const name of ['', ' ', 'constructor', 'toString', '__proto__x', 'cwd\n', '👍']) {
      const { code } = await refusal(() => bash('exit 9', { [name]: 1 } as never));
      expect(code, name).toBe('ERR_BASH_INVALID_ARG');
    }
  });

  it('is refused where it was inherited', async () => {
    const options = Object.create({ timeout: 5 });
    expect((await refusal(() => bash('exit 9', options))).code).toBe('ERR_BASH_INVALID_ARG');
  });

  it('starts nothing and makes nothing', async () => {
    const marker = `/tmp/agent-bash-unknown-${process.pid}`;
    await refusal(() => bash(`touch ${marker}`, { timeout: 5 } as never));
    expect((await bash(`ls ${marker}`)).exitCode).not.toBe(0);
  });
});

describe('undefined', () => {
  it.each(ENTRIES.filter(([name]) => !/check|wait|register/i.test(name)))(
    'counts as left out by %s',
    async (_, call, right) => {
      const made = await refusal(() => call({ [right]: undefined, nothing: undefined } as never));
      expect(made.message).toBe('nothing was thrown');
    },
  );

  it('counts as left out inside an option', async () => {
    const { exitCode } = await bash('true', {
      truncate: { keep: 'tail', maxLines: undefined, maxBytes: undefined, maxChars: undefined },
      sanitize: { ansi: undefined },
      spill: { dir: undefined, maxBytes: undefined },
      limits: { cpuSeconds: undefined },
      safety: { onAsk: undefined },
    });
    expect(exitCode).toBe(0);
  });
});

it('symbols are no names: what other code keeps on an object stays there', async () => {
  expect((await bash('true', { [Symbol('mine')]: 1 } as never)).exitCode).toBe(0);
});
