import { type PiApi, type PiOperations, piExtension, piOperations } from 'agent-bash/pi';
import { describe, expect, it } from 'vitest';
import { draftTest, project } from '../draft/support.ts';
import { alive, finished, folder, until } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

interface Result {
  content: { type: 'text'; text: string }[];
  details: { result?: Record<string, unknown>; fullOutputPath?: string };
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}
interface PiTool {
  parameters: { properties: object };
  execute(...call: unknown[]): Promise<Result>;
}

/** A session of pi, as far as the extension uses it. */
class Session {
  readonly cwd = folder();
  readonly sent: { content: string }[] = [];
  readonly #handlers = new Map<string, (event: object, context: object) => unknown>();
  #tool: PiTool | undefined;

  constructor(options?: Parameters<typeof piExtension>[0]) {
    const pi: PiApi = {
      on: (event, handler) => this.#handlers.set(event, handler),
      registerTool: (tool) => {
        this.#tool = tool;
      },
      sendMessage: (message) => this.sent.push(message),
    };
    piExtension(options)(pi);
    finished(async () => {
      await this.emit('session_shutdown', {});
    });
    this.emit('session_start', {});
  }

  get tool(): PiTool {
    return this.#tool as PiTool;
  }

  emit(name: string, event: object, context: object = {}): unknown {
    return this.#handlers.get(name)?.(event, { cwd: this.cwd, ...context });
  }

  /** Calls the tool as pi does: its handlers first. */
  async call(input: object, { signal, ...context }: { signal?: AbortSignal; ui?: object; hasUI?: boolean } = {}) {
    const event = { toolName: 'bash', toolCallId: 'call-1', input };
    const stopped = (await this.emit('tool_call', event, { signal, ...context })) as { reason: string } | undefined;
    if (stopped !== undefined) throw new Error(stopped.reason);
    return await this.tool.execute('call-1', input, signal, undefined, { cwd: this.cwd, ...context });
  }
}

/** Runs a command by the operations, as pi's own tool does. */
async function operated(command: string, call: { cwd?: string; signal?: AbortSignal; timeout?: number } = {}) {
  let output = '';
  const { cwd = folder(), ...more } = call;
  const onData = (data: Buffer) => {
    output += data;
  };
  const { exitCode } = await piOperations({ approval: { deny: ['git push:*'] } }).exec(command, cwd, {
    onData,
    ...more,
  });
  return { exitCode, output };
}

describe('the operations', () => {
  it('have both streams in the order of writing, and the exit code of a signal', async () => {
    expect(await operated('echo a; echo b >&2; echo c; kill -9 $$')).toEqual({ output: 'a\nb\nc\n', exitCode: 137 });
  });

  it('end the whole tree at a limit and an abort, in the words of pi', async () => {
    const cwd = folder();
    await expect(operated(WITH_CHILD, { cwd, timeout: 1 })).rejects.toThrow(/^timeout:1$/);
    await gone(await pidIn(cwd));
    const abort = new AbortController();
    const aborted = folder();
    const running = operated(WITH_CHILD, { cwd: aborted, signal: abort.signal });
    const child = await pidIn(aborted);
    abort.abort();
    await expect(running).rejects.toThrow(/^aborted$/);
    await gone(child);
  });

  it('do not wait for a pipe that is held', async () => {
    const cwd = folder();
    expect((await operated(HELD_PIPE, { cwd })).output).toMatch(/^first\nlast\n/);
    const child = await pidIn(cwd);
    expect(alive(child)).toBe(true);
    process.kill(child);
    await gone(child);
  });

  it('refuse by deny, with the rule', async () => {
    await expect(operated('git push')).rejects.toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      message: expect.stringContaining('git push:*'),
    });
    await expect(operated('true', { timeout: 0 })).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });
});

describe('the extension', () => {
  it('gives the text, and the result in the forms of pi', async () => {
    const session = new Session();
    expect(Object.keys(session.tool.parameters.properties)).toEqual(expect.arrayContaining(['command', 'timeout']));
    const { content, details, structuredContent, isError } = await session.call({ command: 'pwd; exit 3' });
    expect(content[0]?.text).toContain(`${session.cwd}`);
    expect(details.result).toMatchObject({ exitCode: 3, status: 'exited' });
    expect(structuredContent).toMatchObject({ exit_code: 3, output: `${session.cwd}\n`, truncated: false });
    expect(isError).toBe(true);
  });

  it('ends the whole tree at an abort, and at a limit in seconds', async () => {
    const session = new Session();
    const abort = new AbortController();
    const running = session.call({ command: WITH_CHILD }, { signal: abort.signal });
    const child = await pidIn(session.cwd);
    abort.abort();
    expect((await running).details.result).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(alive(child)).toBe(false);
    const { details } = await session.call({ command: 'sleep 1000', timeout: 1 });
    expect(details.result).toMatchObject({ status: 'timed-out', timeoutMs: 1_000 });
  });

  it('asks by the dialog of pi, and blocks where there is none', async () => {
    const session = new Session({ approval: { ask: ['touch:*'], deny: ['git push:*'] } });
    const asked: string[] = [];
    const confirm = async (_title: string, message: string) => asked.push(message) === 1;
    const dialog = { hasUI: true, ui: { confirm } };
    expect((await session.call({ command: 'touch made' }, dialog)).details.result).toMatchObject({ exitCode: 0 });
    await expect(session.call({ command: 'touch made' }, dialog)).rejects.toThrow('the person who was asked said no');
    await expect(session.call({ command: 'touch made' })).rejects.toThrow('nobody can be asked here');
    await expect(session.call({ command: 'git push' }, dialog)).rejects.toThrow('git push:*');
    expect(asked).toEqual([expect.stringContaining('touch made'), expect.stringContaining('touch made')]);
  });

  it('runs the command of a person in the directory of the tool', async () => {
    for (const cwd of [undefined, folder()]) {
      const session = new Session({ cwd });
      const { operations } = (await session.emit('user_bash', {})) as { operations: PiOperations };
      let output = '';
      await operations.exec('pwd', session.cwd, {
        onData: (data) => {
          output += data;
        },
      });
      expect(output).toBe(`${cwd ?? session.cwd}\n`);
    }
  });

  it('tells of the end of a task, and ends all others with the session', async () => {
    const session = new Session();
    await session.call({ command: 'exit 4', mode: 'background' });
    await until(() => session.sent.length > 0, 'the end is told');
    expect(session.sent).toEqual([expect.objectContaining({ content: expect.stringContaining('exit code 4') })]);
    const { details } = await session.call({ command: 'sleep 1000', mode: 'background' });
    await session.emit('session_shutdown', {});
    expect(alive(details.result?.pid as number)).toBe(false);
    expect(session.sent).toHaveLength(1);
  });
});

it('an argument without a needed member, and a wrong option, are refused at once', () => {
  const invalid = 'ERR_BASH_INVALID_ARG';
  refuses(() => piOperations({ timeout: 5 } as never), invalid, 'did you mean "timeoutMs"');
  refuses(() => piOperations({ approval: { alow: [] } } as never), invalid, 'did you mean "approval.allow"');
  refuses(() => piOperations({ mode: 'background' }), 'ERR_BASH_UNSUPPORTED', 'mode: "background"');
  refuses(() => piOperations({ onTimeout: 'background' }), 'ERR_BASH_UNSUPPORTED', 'onTimeout: "background"');
  refuses(() => piExtension({ timeout: 5 } as never), invalid, 'did you mean "timeoutMs"');
  refuses(() => piExtension({ approval: { deny: ['npm *'] } }), invalid, 'npm');
});

draftTest('the extension asks about the commit of its draft, and leaves the commands of a person outside', async () => {
  const { root } = project();
  const session = new Session({ cwd: root, draft: true, commit: 'ask' });
  await session.call({ command: 'echo new >new' });
  const { operations } = session.emit('user_bash', {}) as { operations: PiOperations };
  expect((await operations.exec('test ! -e new', root, { onData: () => {} })).exitCode).toBe(0);
  await expect(session.call({ draft_commit: true })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  const ui = { confirm: async (_: string, reason: string) => reason.includes('[draft: 1 created (new)]') };
  await session.call({ draft_commit: true }, { ui, hasUI: true });
  expect((await operations.exec('cat new', root, { onData: () => {} })).exitCode).toBe(0);
});
