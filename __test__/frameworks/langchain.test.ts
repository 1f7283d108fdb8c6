import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BashResult } from 'agent-bash';
import { deepAgentsBackend, langchainBash, type Question } from 'agent-bash/langchain';
import { describe, expect, it } from 'vitest';
import { draftTest, project } from '../draft/support.ts';
import { alive, finished, folder, withoutPorts } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

/** `tool` of `@langchain/core/tools`, as far as the adapter uses it. */
function tool(run: (input: object, config?: object) => Promise<[string, unknown]>, fields: object) {
  return { ...fields, run };
}
type Made = ReturnType<typeof tool> & { name: string; responseFormat: string; schema: { properties: object } };

/** `LocalShellBackend` of deepagents, as far as the adapter uses it. */
class LocalShellBackend {
  readonly given: object;
  isRunning = true;
  constructor(given: object) {
    this.given = given;
  }
  async execute(_command: string): Promise<{ output: string; exitCode: number | null; truncated: boolean }> {
    throw new Error('the shell of deepagents');
  }
  async close(): Promise<void> {
    this.isRunning = false;
  }
}

function toolOf(options?: Parameters<typeof langchainBash>[1]): Made {
  return langchainBash(tool as never, options) as unknown as Made;
}

function backendOf(options?: Parameters<typeof deepAgentsBackend>[1]): LocalShellBackend {
  const backend = deepAgentsBackend(LocalShellBackend, { cwd: folder(), ...options });
  finished(() => backend.close());
  return backend;
}

describe('the tool', () => {
  it('gives the text as content and the result as artifact', async () => {
    const made = toolOf();
    expect(made).toMatchObject({ name: 'bash', responseFormat: 'content_and_artifact' });
    expect(Object.keys(made.schema.properties)).toContain('command');
    const [text, artifact] = await made.run({ command: 'echo out; echo err >&2; exit 3' });
    expect(text).toBe('[command failed: exit code 3]\n\nstdout:\nout\n\nstderr:\nerr');
    expect(artifact).toMatchObject({ stdout: 'out\n', exitCode: 3, status: 'exited' });
  });

  it('throws what cannot run, with its code', async () => {
    await expect(toolOf().run({ command: 'rm -rf /' })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    await expect(toolOf({ cwd: '/missing' }).run({ command: 'true' })).rejects.toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
    });
    await expect(toolOf({ errorOnFailure: true }).run({ command: 'false' })).rejects.toThrow('exit code 1');
  });

  it('ends the whole tree when the signal of its config aborts', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const answer = toolOf({ cwd }).run({ command: WITH_CHILD }, { signal: abort.signal });
    const child = await pidIn(cwd);
    abort.abort();
    expect((await answer)[1]).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(alive(child)).toBe(false);
  });

  it('asks with the id of the call, and an «always» allows what it suggested', async () => {
    const questions: Question[] = [];
    const approval = {
      allow: ['read-only'],
      deny: ['git push:*'],
      onAsk: (question: Question) => {
        questions.push(question);
        return 'always' as const;
      },
    };
    const cwd = folder();
    const { run } = toolOf({ cwd, approval });
    const call = { toolCall: { id: 'call-1' } };
    await run({ command: 'touch a' }, call);
    await run({ command: 'touch a' }, call);
    expect(questions).toMatchObject([{ command: 'touch a', cwd, toolCallId: 'call-1', suggestRules: ['touch:*'] }]);
    expect(approval.allow).toEqual(['read-only']);
    await expect(run({ command: 'git push' }, call)).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    expect(questions).toHaveLength(1);
  });

  it.each([
    ['a no', () => false, 'the person who was asked said no'],
    ['a no with words', () => ({ approved: false, reason: 'not today' }), 'not today'],
    ['an answer of another kind', () => 'yes' as never, 'nothing was run'],
    ['an error', () => Promise.reject(new Error('no line')), 'no line'],
  ])('%s refuses', async (_, onAsk, words) => {
    const { run } = toolOf({ approval: { ask: ['true'], onAsk } });
    await expect(run({ command: 'true' })).rejects.toThrow(words);
  });

  it('without a person, a command that asks is refused with the reason', async () => {
    const { run } = toolOf({ approval: { ask: ['npm test'] } });
    await expect(run({ command: 'npm test' })).rejects.toThrow(/the rule «npm test» asks\n.*nobody can be asked here/);
  });
});

describe('the backend', () => {
  it('has both streams in the order of writing, and the exit code of a signal', async () => {
    const backend = backendOf();
    expect(await backend.execute('echo a; echo b >&2; echo c; kill -9 $$')).toEqual({
      output: 'a\nb\nc\n\n[command killed: SIGKILL]\n',
      exitCode: 137,
      truncated: false,
    });
    expect(backend.given).toMatchObject({ rootDir: expect.stringMatching(/^\//) });
  });

  it('does not wait for a pipe that is held, and close ends what holds it', async () => {
    const cwd = folder();
    const backend = backendOf({ cwd });
    expect((await backend.execute(HELD_PIPE)).output).toMatch(/^first\nlast\n/);
    const child = await pidIn(cwd);
    expect(alive(child)).toBe(true);
    await backend.close();
    await gone(child);
    expect(backend.isRunning).toBe(false);
  });

  it('ends the tree at its limit, and keeps the output until then', async () => {
    const cwd = folder();
    const { output, exitCode } = await backendOf({ cwd, timeoutMs: 1_000 }).execute(WITH_CHILD);
    expect(output).toBe('started\n\n[command timed out after 1s]\n');
    expect(exitCode).toBe(124);
    await gone(await pidIn(cwd));
  });

  it('keeps the end of a large output, and says that it was cut', async () => {
    const { output, truncated } = await backendOf().execute('seq 100000');
    expect(truncated).toBe(true);
    expect(output).toMatch(/\n100000\n/);
    expect(output.length).toBeLessThan(110_000);
  });

  it('never rejects: what did not run is 126 with the reason', async () => {
    const refused = await backendOf({ approval: { deny: ['git push:*'] } }).execute('git push');
    expect(refused).toMatchObject({ exitCode: 126, output: expect.stringContaining('git push:*') });
    expect(await backendOf({ cwd: '/missing' }).execute('true')).toMatchObject({ exitCode: 126 });
  });

  it('ends a command by the signal of its run', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const running = backendOf({ cwd, signal: () => abort.signal }).execute(WITH_CHILD);
    await pidIn(cwd);
    abort.abort();
    expect(await running).toMatchObject({ exitCode: 130, output: expect.stringContaining('[command interrupted]') });
  });

  it('calls onAfterRun with the result, and a throw of it is a note', async () => {
    const heard: [string, BashResult][] = [];
    const onAfterRun = ({ command, result }: { command: string; result: BashResult }) => {
      heard.push([command, result]);
      throw new Error('full disk');
    };
    const { output } = await backendOf({ onAfterRun, receipt: 'watch' }).execute('echo 1 > a');
    expect(heard).toMatchObject([['echo 1 > a', { exitCode: 0, receipt: { created: [expect.anything()] } }]]);
    expect(withoutPorts(output)).toBe('[changed: 1 created (a)]\n\n[onAfterRun failed: full disk]\n');
    const rejects = async () => Promise.reject(new Error('no line'));
    expect((await backendOf({ onAfterRun: rejects }).execute('true')).output).toBe('[onAfterRun failed: no line]\n');
  });

  it('leaves tasks in a registry of the host alone', async () => {
    const cwd = folder();
    const registry = new BackgroundRegistry();
    finished(() => registry.close());
    const backend = backendOf({ cwd, registry });
    await backend.execute(HELD_PIPE);
    await backend.close();
    const child = await pidIn(cwd);
    expect(alive(child)).toBe(true);
    await registry.close();
    await gone(child);
  });
});

it('an argument without a needed member, and a wrong option, are refused at once', () => {
  const unsupported = 'ERR_BASH_UNSUPPORTED';
  refuses(
    () => langchainBash(undefined as never),
    unsupported,
    'tool is not there: it comes from @langchain/core/tools',
  );
  refuses(() => deepAgentsBackend(class {} as never), unsupported, /LocalShellBackend\.prototype\.execute .*1\.14\.0/);
  refuses(() => toolOf({ timeout: 5 } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "timeoutMs"');
  refuses(() => toolOf({ approval: { alow: [] } } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "approval.allow"');
  refuses(() => backendOf({ virtualmode: true } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "virtualMode"');
  for (const value of [null, 'yes', [], { allow: 'read-only' }]) {
    refuses(() => toolOf({ approval: value } as never), 'ERR_BASH_INVALID_ARG', 'approval');
    refuses(() => backendOf({ approval: value } as never), 'ERR_BASH_INVALID_ARG', 'approval');
  }
  refuses(() => deepAgentsBackend(LocalShellBackend, null as never), 'ERR_BASH_INVALID_ARG', 'null is not an object');
  refuses(() => backendOf({ mode: 'background' }), unsupported, 'mode: "background"');
  refuses(() => backendOf({ approval: { deny: ['npm *'] } }), 'ERR_BASH_INVALID_ARG', 'npm');
});

draftTest('the tool commits its draft if approval.onAsk says so, and else throws', async () => {
  const { root } = project();
  const asked: Question[] = [];
  let answer = false;
  const onAsk = (question: Question) => {
    asked.push(question);
    return answer;
  };
  const made = toolOf({ cwd: root, draft: true, commit: 'ask', approval: { onAsk } });
  await made.run({ command: 'echo new >new' });
  await expect(made.run({ draft_commit: true })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  answer = true;
  expect((await made.run({ draft_commit: true }))[0]).toBe('[committed: 1 path (new)]');
  expect(asked.map(({ command, cwd }) => [command, cwd])).toEqual([
    ['draft_commit', root],
    ['draft_commit', root],
  ]);
  expect(readFileSync(join(root, 'new'), 'utf8')).toBe('new\n');
});
