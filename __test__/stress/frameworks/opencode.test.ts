import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tool } from '@opencode-ai/plugin';
import { opencodePlugin } from 'agent-bash/opencode';
import { expect, it, vi } from 'vitest';
import { compiled, examples, page } from '../../docs/examples.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from '../../frameworks/support.ts';
import { finished, folder, settles } from '../../support/index.ts';

interface Ask {
  permission: string;
  patterns: string[];
  always: string[];
}
type Options = Parameters<typeof opencodePlugin>[1];

/** Opens the plugin as OpenCode does, with a person who answers. */
async function opened(options: Options = {}, answer: (ask: Ask) => void = () => {}) {
  const cwd = folder();
  const hooks = await opencodePlugin(tool, options)({ directory: cwd });
  finished(() => hooks.dispose());
  const asked: Ask[] = [];
  const live: unknown[] = [];
  const abort = new AbortController();
  const context = {
    sessionID: 's',
    messageID: 'm',
    agent: 'build',
    directory: cwd,
    worktree: cwd,
    abort: abort.signal,
    metadata: (update: unknown) => void live.push(update),
    ask: async (ask: Ask) => {
      asked.push(ask);
      answer(ask);
    },
  };
  const call = async (name: string, input: object) => {
    const definition = hooks.tool[name] as ReturnType<typeof tool>;
    const args = tool.schema.object(definition.args).parse(input);
    const result = await definition.execute(args, context as never);
    return result as { title: string; output: string; metadata: Record<string, unknown> };
  };
  return { cwd, asked, live, abort, call, hooks };
}

it('a command gives the output, its exit code and its run', async () => {
  const { call, cwd } = await opened();
  const { title, output, metadata } = await call('bash', { command: 'pwd; echo b >&2; exit 3', description: 'Says' });
  expect([title, metadata.exit, metadata.output]).toEqual(['Says', 3, `${cwd}\nb\n`]);
  expect(output).toContain('exit code 3');
  expect(metadata.runId).toEqual(expect.any(String));
});

it('a command inside a wrapper: OpenCode is asked with a pattern for it, as for each command of the line', async () => {
  const { call, asked } = await opened();
  await call('bash', { command: `true && npm --version | cat; env A=1 bash -c 'date; ls'` });
  expect(asked[0]?.permission).toBe('bash');
  expect(asked[0]?.patterns).toEqual(expect.arrayContaining(['true', 'npm --version', 'cat', 'date', 'ls']));
});

it('an «always»: it never allows another command', async () => {
  const { call, asked } = await opened();
  await call('bash', { command: 'git status; rm -f y' });
  expect(asked[0]?.always).toContain('git status *');
  expect(asked[0]?.always).not.toContain('rm *');
});

it('a rejection is thrown on unchanged, and nothing starts', async () => {
  const rejection = new Error('rejected by a person');
  const { call, cwd } = await opened({}, () => {
    throw rejection;
  });
  await expect(call('bash', { command: 'touch made' })).rejects.toBe(rejection);
  expect((await promisify(execFile)('ls', [cwd])).stdout).toBe('');
});

it('a command that safety or deny refuses is not asked about', async () => {
  const { call, asked } = await opened({ approval: { deny: ['date:*'] } });
  await expect(call('bash', { command: 'rm -rf /' })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  await expect(call('bash', { command: 'date' })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  expect(asked).toEqual([]);
});

it('a workdir outside of the project asks for it', async () => {
  const { call, asked } = await opened();
  const outside = folder();
  expect((await call('bash', { command: 'pwd', workdir: outside })).output).toContain(outside);
  expect(asked.map(({ permission }) => permission)).toEqual(['external_directory', 'bash']);
  expect(asked[0]?.patterns).toEqual([join(outside, '*')]);
});

it('a command is aborted: the whole tree is ended', async () => {
  const { call, cwd, abort } = await opened();
  const running = call('bash', { command: WITH_CHILD });
  const pid = await pidIn(cwd);
  abort.abort();
  expect((await settles(running)).metadata.exit).toBe(130);
  await gone(pid);
});

it('a limit ends the whole tree, and a held pipe delays no end', async () => {
  const { call, cwd } = await opened();
  expect((await settles(call('bash', { command: WITH_CHILD, timeout: 1_000 }))).metadata.exit).toBe(124);
  await gone(await pidIn(cwd));
  const held = await opened();
  expect((await settles(held.call('bash', { command: HELD_PIPE }))).output).toContain('last');
  await held.hooks.dispose();
  await gone(await pidIn(held.cwd));
});

it('a large output stays below the limits of OpenCode', async () => {
  const { call } = await opened();
  const { output, metadata } = await call('bash', { command: 'seq 200000' });
  expect(output.split('\n').length).toBeLessThanOrEqual(2_000);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(51_200);
  expect(metadata.truncated).toBe(true);
});

it('what a command reaches: the model is told of what the confinement denied', async () => {
  const { call } = await opened({ confine: 'workspace' });
  const { output } = await call('bash', { command: 'echo x > /etc/agent-bash-denied' });
  expect(output).toContain('[confined: write /etc/agent-bash-denied denied');
});

it('secrets of the host: they are withheld', async () => {
  vi.stubEnv('EXAMPLE_API_KEY', 'secret');
  finished(() => vi.unstubAllEnvs());
  const { call } = await opened({ env: { MADE: 'yes' } });
  expect((await call('bash', { command: 'echo "[$EXAMPLE_API_KEY][$MADE]"' })).metadata.output).toBe('[][yes]\n');
});

it('tasks are listed, and end with the plugin', async () => {
  const { call, hooks } = await opened();
  const { metadata } = await call('bash', { command: 'sleep 1000', mode: 'background' });
  expect(metadata.exit).toBe(null);
  const { metadata: listed } = await call('bash_tasks', {});
  const [{ pid }] = listed.tasks as [{ pid: number }];
  await settles(hooks.dispose());
  await gone(pid);
});

it('wrong options are errors at once', () => {
  refuses(() => opencodePlugin(tool, { confin: 'off' } as never), 'ERR_BASH_INVALID_ARG', 'confine');
  refuses(() => opencodePlugin({} as never), 'ERR_BASH_UNSUPPORTED', '@opencode-ai/plugin');
});

it('the example of the page runs, in Bun', async () => {
  const cwd = folder();
  const file = join(import.meta.dirname, `bun-${process.pid}.mjs`);
  finished(() => rmSync(file, { force: true }));
  const [plugin = '', ...others] = examples(await page('opencode.md'));
  expect(others).toEqual([]);
  writeFileSync(
    file,
    `${compiled(plugin)}
const [directory] = process.argv.slice(2);
const hooks = await AgentBash({ directory });
const context = {
  directory,
  worktree: directory,
  abort: new AbortController().signal,
  ask: async () => {},
  metadata() {},
};
const { output } = await hooks.tool.bash.execute({ command: 'echo in bun; pwd' }, context);
await hooks.dispose();
console.log(process.versions.bun !== undefined, JSON.stringify(output.trim()));`,
  );
  const bun = join(import.meta.dirname, 'packages/node_modules/@oven/bun-linux-x64/bin/bun');
  const { stdout } = await promisify(execFile)(bun, [file, cwd], { timeout: 120_000 });
  expect(stdout).toBe(`true ${JSON.stringify(`in bun\n${cwd}`)}\n`);
}, 150_000);
