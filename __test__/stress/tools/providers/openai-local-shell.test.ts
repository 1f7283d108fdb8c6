import { userInfo } from 'node:os';
import { type LocalShellOutput, openaiLocalShell } from 'agent-bash/openai';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { localShellCall, MAJORS, openaiApi } from '../../../providers/fixtures/wire.ts';
import { temporaryFolder } from '../../../sandbox/support.ts';
import { reaching } from '../../../support/confined/index.ts';

const prompt = 'go on';

type Options = Parameters<typeof openaiLocalShell>[0];

/** One call, past the SDK: all that it yielded. */
async function yielded(options: Options, input: unknown): Promise<string[]> {
  const outputs: LocalShellOutput[] = [];
  const tool = openaiLocalShell(options);
  for await (const output of tool.execute(input as never, { toolCallId: 'call_1' })) outputs.push(output);
  return outputs.map(({ output }) => output);
}

/** The model's view of a program. */
async function ran(command: string[], more: Record<string, unknown> = {}, options: Options = {}): Promise<string> {
  return (await yielded(options, { action: { type: 'exec', command, ...more } })).at(-1) as string;
}

describe.each(MAJORS)('%s', (_, { ai, gpt }) => {
  const stopWhen = ai.stepCountIs(5);
  it.each([true, false])(
    'a program runs with its words as they are, and its text goes back (store: %s)',
    async (store) => {
      const command = ['printf', '%s|', 'a b', "it's", '$HOME', '', '*', '--', '\n'];
      const api = openaiApi([localShellCall(command)], 'done');
      const tools = { local_shell: openaiLocalShell() };
      const providerOptions = { openai: { store } };
      const { text } = await ai.generateText({ model: gpt(api), prompt, tools, stopWhen, providerOptions });
      expect(text).toBe('done');
      expect(api.requests[0].tools).toEqual([{ type: 'local_shell' }]);
      const [asked, answered] = api.requests[1].input.slice(-2);
      if (!store) expect(asked).toMatchObject({ type: 'local_shell_call', action: { command } });
      expect(answered).toEqual({
        type: 'local_shell_call_output',
        call_id: 'call_1',
        output: "stdout:\na b|it's|$HOME||*|--|\n|\n\nexit code: 0",
      });
    },
  );

  it.each(['generateText', 'streamText'] as const)(
    '%s: directory, variables and limit of the call hold',
    async (how) => {
      const folder = await temporaryFolder();
      const command = ['bash', '-lc', 'echo "$PWD $WHO"; sleep 60'];
      // A home without start files: those of a person may take any time.
      const env = { WHO: 'a b', HOME: folder };
      const more = { working_directory: folder, env, timeout_ms: 2_000, user: userInfo().username };
      const api = openaiApi([localShellCall(command, more)], 'done');
      const tools = { local_shell: openaiLocalShell({ graceMs: 0, ...reaching(folder) }) };
      const providerOptions = { openai: { store: false } };
      const options = { model: gpt(api), prompt, tools, stopWhen, providerOptions };
      if (how === 'generateText') await ai.generateText(options);
      else for await (const part of ai.streamText(options).fullStream) expect(part.type).not.toBe('error');
      const [asked, answered] = api.requests[1].input.slice(-2);
      expect(answered.output).toContain(`[command timed out after 2s]\n\nstdout:\n${folder} a b\n`);
      expect(answered.output).toContain('pass a larger timeout_ms');
      expect(asked.action).toMatchObject({ working_directory: folder, env, timeout_ms: 2_000 });
    },
  );

  it('streamText: the output so far is a preliminary result', async () => {
    const api = openaiApi([localShellCall(['bash', '-c', 'echo a; sleep .5; echo b'])], 'done');
    const tools = { local_shell: openaiLocalShell({ updateIntervalMs: 50 }) };
    const results = [];
    for await (const part of ai.streamText({ model: gpt(api), prompt, tools, stopWhen }).fullStream) {
      if (part.type === 'tool-result') results.push(part);
    }
    expect(results.filter(({ preliminary }) => preliminary).map(({ output }) => output)).toContainEqual({
      output: '[command still running]\n\nstdout:\na',
    });
    expect(results.at(-1)).toMatchObject({ output: { output: 'stdout:\na\nb\n\nexit code: 0' } });
  });
});

it.each([
  [['git', 'push', '--force']],
  [['bash', '-lc', 'git push --force']],
  [['bash', '-c', 'eval "$1"', 'x', 'git push --force']],
  [['env', 'A=b', 'git', 'push', '--force']],
  [['sudo', 'rm', '-rf', '/']],
])('%j is refused', async (command) => {
  expect(await ran(command)).not.toContain('exit code');
});

it('variables of the call are nothing to the shell that starts the program', async () => {
  const env = { BASH_ENV: '$(echo read >&2)', 'BASH_FUNC_true%%': '() { echo called; }' };
  expect(await ran(['true'], { env })).toBe('(no output)\n\nexit code: 0');
  expect(await ran(['true'], { env: { BASH_ENV: '$(echo read >&2)' } })).toBe('(no output)\n\nexit code: 0');
});

it('the keys of the wire mean the same; null counts as left out', () => {
  const { validate } = openaiLocalShell().inputSchema['~standard'];
  const wire = { type: 'exec', command: ['ls'], timeout_ms: 5, working_directory: '/', user: null, env: null };
  expect(validate({ action: wire })).toEqual({
    value: { action: { type: 'exec', command: ['ls'], timeoutMs: 5, workingDirectory: '/' } },
  });
});

it('hooks, interception and the tasks see the program as one would type it', async () => {
  const onBeforeRun = vi.fn();
  await ran(['git', 'commit', '-m', "it's done"], { env: { CI: '1', MSG: 'a b' } }, { onBeforeRun, cwd: '/' });
  expect(onBeforeRun).toHaveBeenCalledWith({ command: `CI=1 MSG='a b' git commit -m 'it'\\''s done'` });
  expect(await ran(['cat', 'a.txt'], {}, { interceptor: true, availableTools: ['read'] })).toContain(
    'Use the tool read',
  );
});

it.each([
  [['if'], 'if: command not found'],
  [['a=b'], 'a=b: command not found'],
  [['!', 'true'], '!: command not found'],
  [['[[', 'a', ']]'], '[[: command not found'],
  [['~/x'], '~/x: No such file'],
  [['echo', '{a,b}', '~', '`id`', '#x', '&', 'a;b', '\\'], 'stdout:\n{a,b} ~ `id` #x & a;b \\\n'],
  [['bash', '-c', 'echo "$0 $1 $#"', 'x', 'y z'], 'stdout:\nx y z 1\n'],
])('%j is no grammar', async (command, text) => {
  expect(await ran(command)).toContain(text);
});

it('words of any kind reach the program as they are', async () => {
  const words = fc.sample(fc.string({ unit: 'binary', maxLength: 20 }), { numRuns: 300, seed: 7 });
  const plain = [...words, ...fc.sample(fc.string({ maxLength: 20 }), { numRuns: 300, seed: 7 })];
  const argv = plain.map((word) => Buffer.from(word.replaceAll('\0', '')).toString());
  const program = 'console.log(Buffer.from(JSON.stringify(process.argv.slice(1))).toString("base64"))';
  const read = await ran(['node', '-e', program, '--', ...argv]);
  const told = /^stdout:\n(\S+)/.exec(read)?.[1] ?? '';
  expect(JSON.parse(Buffer.from(told, 'base64').toString())).toEqual(argv);
});

it('a name that bash cannot export is given all the same', async () => {
  expect(await ran(['env'], { env: { 'npm_config_@x:registry': 'a b', B: '1' } })).toMatch(
    /^npm_config_@x:registry=a b$/m,
  );
});

it('only the user of this process runs a program', async () => {
  const onBeforeRun = vi.fn();
  expect(await ran(['true'], { user: 'somebody-else' }, { onBeforeRun })).toBe(
    `the action: commands run as ${userInfo().username}, and not as somebody-else; leave user out`,
  );
  expect(onBeforeRun).not.toHaveBeenCalled();
});

it.each([
  [{}],
  [null],
  [{ action: { type: 'exec', command: 'ls' } }],
  [{ action: { type: 'click', command: ['ls'] } }],
  [{ action: { type: 'exec', command: ['ls'], env: { A: 1 } } }],
  [{ action: { type: 'exec', command: ['ls'], env: { 'A=B': '1' } } }],
])('%j is refused by the schema, and the tool answers it without a throw', async (input) => {
  expect(openaiLocalShell().inputSchema['~standard'].validate(input)).toHaveProperty('issues');
  expect(await yielded({}, input)).toEqual([expect.stringMatching(/^the action: /)]);
});

it('a failed program has its reason', async () => {
  expect(await ran([])).toBe('the action: command has no program');
  expect(await ran(['true'], { workingDirectory: '/none' })).toBe('Working directory does not exist: /none');
  const perCall = () => {
    throw new Error('nobody');
  };
  expect(await ran(['true'], {}, { perCall })).toBe('nobody');
});
