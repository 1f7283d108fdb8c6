import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { opencodePlugin } from 'agent-bash/opencode';
import { describe, expect, it } from 'vitest';
import { draftTest, project } from '../draft/support.ts';
import { alive, finished, folder } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

/** A type of zod, as far as the adapter uses it. */
const type = (kind: string) => {
  const made = { kind, optional: () => made, int: () => made, describe: () => made };
  return made;
};

/** `tool` of `@opencode-ai/plugin`, as far as the adapter uses it. */
const tool = Object.assign((definition: Definition) => definition, {
  schema: Object.fromEntries(
    ['string', 'number', 'boolean', 'enum', 'array', 'object'].map((kind) => [kind, () => type(kind)]),
  ),
});

interface Result {
  title: string;
  output: string;
  metadata: Record<string, unknown>;
}
interface Definition {
  args: Record<string, { kind: string }>;
  execute(input: object, context: object): Promise<Result>;
}
interface Ask {
  permission: string;
  patterns: string[];
  always: string[];
}

/** Opens the plugin in a project, with a person who answers. */
async function opened(options?: Parameters<typeof opencodePlugin>[1], answer: (ask: Ask) => void = () => {}) {
  const directory = folder();
  const hooks = await opencodePlugin(tool, options)({ directory });
  finished(() => hooks.dispose());
  const asked: Ask[] = [];
  const abort = new AbortController();
  const ask = async (question: Ask) => {
    asked.push(question);
    answer(question);
  };
  const context = { directory, worktree: directory, abort: abort.signal, ask, metadata: () => {} };
  const call = (name: string, input: object) => (hooks.tool[name] as Definition).execute(input, context);
  const run = (command: string, more: object = {}) => call('bash', { command, ...more });
  return { cwd: directory, asked, abort, hooks, call, run };
}

describe('the plugin', () => {
  it('gives the output, its exit code and its run', async () => {
    const { hooks, run, cwd } = await opened();
    expect(hooks.tool.bash?.args).toMatchObject({ command: { kind: 'string' }, timeout: { kind: 'number' } });
    const { title, output, metadata } = await run('pwd; echo b >&2; exit 3', { description: 'Says' });
    expect(title).toBe('Says');
    expect(output).toContain('exit code 3');
    expect(metadata).toMatchObject({ output: `${cwd}\nb\n`, exit: 3, truncated: false, runId: expect.any(String) });
  });

  it('asks OpenCode with a pattern for each command, and an «always» grants no other', async () => {
    const { run, asked, cwd } = await opened();
    const outside = folder();
    await run(`git --version && bash -c 'date'; rm -f y`, { workdir: outside });
    expect(asked.map(({ permission }) => permission)).toEqual(['external_directory', 'bash']);
    expect(asked[0]?.patterns).toEqual([`${outside}/*`]);
    expect(asked[1]?.patterns).toEqual(expect.arrayContaining(['git --version', 'date', 'rm -f y']));
    expect(asked[1]?.always).not.toContain('rm *');
    symlinkSync(outside, join(cwd, 'link'));
    await run('git --version', { workdir: 'link' });
    expect(asked.slice(-2).map(({ permission }) => permission)).toEqual(['external_directory', 'bash']);
    await run('git --version > out 2>/dev/null', { workdir: outside });
    expect(asked.at(-1)?.patterns).toEqual(['git --version', `> ${outside}/out`]);
    expect(asked.at(-1)?.always).toEqual(['git --version']);
  });

  it('throws a rejection on unchanged, and asks nobody about what deny refuses', async () => {
    const rejection = new Error('rejected by a person');
    const { run, asked } = await opened({ approval: { deny: ['git push:*'] } }, () => {
      throw rejection;
    });
    await expect(run('git push')).rejects.toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      message: expect.stringContaining('git push:*'),
    });
    await expect(run('rm -rf /')).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    expect(asked).toEqual([]);
    await expect(run('touch made')).rejects.toBe(rejection);
  });

  it('ends the whole tree at an abort, and at a limit in milliseconds', async () => {
    const { run, cwd, abort } = await opened();
    const running = run(WITH_CHILD);
    const child = await pidIn(cwd);
    abort.abort();
    expect((await running).metadata.exit).toBe(130);
    expect(alive(child)).toBe(false);
    const limited = await opened();
    expect((await limited.run(WITH_CHILD, { timeout: 1_000 })).metadata.exit).toBe(124);
    await gone(await pidIn(limited.cwd));
  });

  it('does not wait for a pipe that is held, and dispose ends what holds it', async () => {
    const { run, cwd, hooks } = await opened();
    expect((await run(HELD_PIPE)).output).toContain('last');
    const child = await pidIn(cwd);
    expect(alive(child)).toBe(true);
    await hooks.dispose();
    await gone(child);
  });

  it('lists tasks, and dispose ends them', async () => {
    const { run, call, hooks } = await opened();
    expect((await run('sleep 1000', { mode: 'background' })).metadata.exit).toBe(null);
    const { metadata, output } = await call('bash_tasks', {});
    expect(output).toContain('sleep 1000');
    await hooks.dispose();
    await gone((metadata.tasks as [{ pid: number }])[0].pid);
  });
});

it('an argument without a needed member, and a wrong option, are refused at once', () => {
  const [invalid, unsupported] = ['ERR_BASH_INVALID_ARG', 'ERR_BASH_UNSUPPORTED'];
  refuses(
    () => opencodePlugin(undefined as never),
    unsupported,
    'tool is not there: it comes from @opencode-ai/plugin',
  );
  refuses(() => opencodePlugin((() => {}) as never), unsupported, 'tool.schema.string is not there');
  refuses(() => opencodePlugin(tool, { timeout: 5 } as never), invalid, 'did you mean "timeoutMs"');
  refuses(() => opencodePlugin(tool, { approval: { alow: [] } } as never), invalid, 'did you mean "approval.allow"');
  refuses(() => opencodePlugin(tool, { approval: { deny: ['npm *'] } }), invalid, 'npm');
});

draftTest('the commit of a draft is for approval.onAsk, since OpenCode is not asked about it', async () => {
  const { root } = project();
  const options = { cwd: root, draft: true, commit: 'ask' } as const;
  for (const approval of [undefined, {}]) {
    const { run, call } = await opened({ ...options, ...(approval && { approval }) });
    await run('echo new >new');
    await expect(call('bash', { draft_commit: true })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  }
  expect(existsSync(join(root, 'new'))).toBe(false);
  const { run, call, asked } = await opened({ ...options, approval: { onAsk: () => true } });
  await run('echo new >new');
  const before = asked.length;
  await call('bash', { draft_commit: true });
  expect([existsSync(join(root, 'new')), asked.length]).toEqual([true, before]);
});
