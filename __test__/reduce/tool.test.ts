import { readFileSync } from 'node:fs';
import { type BashResult, BashSession, OutputStore } from 'agent-bash';
import { type BashToolOptions, type BashToolOutput, createBashTool, formatResult } from 'agent-bash/ai';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, it } from 'vitest';
import { RESULT } from '../ai/fixtures/call.ts';
import { folder, withoutPorts } from '../support/index.ts';
import { ask, closingOf, conversation, LONG, LONG_TEXT, linesOf } from './fixtures/conversation.ts';

const FIELDS = [
  'command',
  'mode',
  'timeout_ms',
  'cwd',
  'head',
  'tail',
  'check_pid',
  'kill_pid',
  'wait_pid',
  'port',
  'pattern',
];
const REPEATS = "printf 'waiting for the server\\n%.0s' {1..50}; echo done";

function fieldsOf(options: BashToolOptions): string[] {
  const schema = createBashTool(options).inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' });
  return schema.required as string[];
}

describe('the default level of the tool is lossless', () => {
  it('repeats are folded, and the streams stay as they are', async () => {
    const { output, text } = await ask(createBashTool(), REPEATS);
    expect(text).toBe('waiting for the server\n[x50]\ndone');
    expect(output).toMatchObject({
      stdout: `${'waiting for the server\n'.repeat(50)}done\n`,
      view: { class: 'green', elided: [], rules: ['repeats'], id: 0, path: null },
    });
  });

  it('a result without anything to gain has no view', async () => {
    expect((await ask(createBashTool(), 'echo hi')).output).toMatchObject({ stdout: 'hi\n', view: null });
  });

  it.each([
    ['a success with stdout alone is its text alone', 'echo hi', 'hi'],
    ['a success with stderr alone has its label', 'echo oh >&2', 'stderr:\noh'],
    ['both streams have their labels', 'echo a; echo b >&2', 'stdout:\na\n\nstderr:\nb'],
    ['a success without output says so', 'true', '(no output)'],
    ['a failure has its headline and exit code', 'echo a; exit 3', '[command failed: exit code 3]\n\na'],
    [
      'a failure with both streams has their labels',
      'echo a; echo b >&2; exit 3',
      '[command failed: exit code 3]\n\nstdout:\na\n\nstderr:\nb',
    ],
  ])('%s', async (_why, command, expected) => {
    expect((await ask(createBashTool(), command)).text).toBe(expected);
    expect((await ask(createBashTool({ reduce: 'salient' }), command)).text).toBe(expected);
  });

  it('notes stay', async () => {
    const { text } = await ask(createBashTool(), { command: 'echo hi', timeout_ms: 1 });
    expect(text).toBe('hi\n\n[timeout_ms 1 was taken as 1000, the shortest that may be asked for]');
  });

  it('with off the text is that of formatResult without a view', async () => {
    const { output, text } = await ask(createBashTool({ reduce: 'off' }), REPEATS);
    expect(output).toMatchObject({ view: null });
    expect(text).toBe(`stdout:\n${'waiting for the server\n'.repeat(50)}done\n\nexit code: 0`);
    expect(text).toBe(formatResult(output as never));
  });
});

describe('the level of a call', () => {
  it.each([
    ['of the session', { session: new BashSession({ reduce: 'off' }) }, 'stdout:\nhi\n\nexit code: 0'],
    [
      'of the tool before that of the session',
      { session: new BashSession({ reduce: 'off' }), reduce: 'lossless' },
      'hi',
    ],
    ['of perCall', { perCall: () => ({ reduce: 'off' as const }) }, 'stdout:\nhi\n\nexit code: 0'],
    ['of perCall, turned on', { reduce: 'off', perCall: () => ({ reduce: 'lossless' as const }) }, 'hi'],
  ] as [string, BashToolOptions, string][])(
    'is that %s, after a JSON round trip too',
    async (_why, options, expected) => {
      const tool = createBashTool(options);
      const { output, text } = await ask(tool, 'echo hi');
      expect(text).toBe(expected);
      expect(tool.toModelOutput({ output: JSON.parse(JSON.stringify(output)) }).value).toBe(expected);
      expect(createBashTool(options).toModelOutput({ output: structuredClone(output) }).value).toBe(expected);
    },
  );

  it.each([true, 'most', 5, { level: 'off' }, { budgetTokens: 0 }, { rules: true }])(
    'reduce: %j is refused before anything runs',
    async (reduce) => {
      const marker = `${folder()}/ran`;
      for (const more of [{}, { run: async () => RESULT }, { sandbox: createLocalSandboxSession() }]) {
        const tool = createBashTool({ ...more, reduce: reduce as never });
        expect((await ask(tool, `touch ${marker}`)).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
      }
      expect(() => readFileSync(marker)).toThrow('ENOENT');
    },
  );

  it('outputs that are no store are refused at once', () => {
    expect(() => createBashTool({ outputs: '/tmp' as never })).toThrow('outputs: "/tmp" is not an OutputStore');
  });
});

describe('salient', () => {
  it('a marker names the lines that are left out, and the closing line says how to get them', async () => {
    const outputs = new OutputStore({ dir: folder() });
    const { output, text } = await ask(createBashTool({ reduce: 'salient', outputs }), LONG);
    const { id, total, path, from, to } = closingOf(text);
    expect(total).toBe('600');
    expect(text).toContain(`[... L${from === to ? from : `${from}-${to}`}]`);
    expect(output).toMatchObject({ stdout: LONG_TEXT, view: { id, path, class: 'green' } });
    expect(readFileSync(path, 'utf8')).toBe(LONG_TEXT);
    expect(await outputs.read(id, { lines: [from, to] })).toBe(linesOf(LONG_TEXT, from, to));
  });

  it('the text is the same at every step, after a JSON round trip too', async () => {
    const tool = createBashTool({ reduce: 'salient' });
    const { output, text } = await ask(tool, LONG);
    const copies = [output, structuredClone(output), JSON.parse(JSON.stringify(output))];
    expect(copies.map((copy) => tool.toModelOutput({ output: copy }).value)).toEqual([text, text, text]);
  });

  it('the text names changed files alike at every step, if the input is known', async () => {
    const cwd = folder();
    const tool = createBashTool({ cwd: '/', receipt: 'exact', confine: 'off' });
    const input = { command: 'echo new > made.txt', cwd };
    const { output, text } = await ask(tool, input);
    expect(withoutPorts(text)).toBe('(no output)\n\n[changed: 1 created (made.txt)]');
    expect(tool.toModelOutput({ input, output: JSON.parse(JSON.stringify(output)) }).value).toBe(text);
  });

  it('a failure in the middle is shown, and the command failed', async () => {
    const failure = "src/a.c:3:5: error: expected ';' before '}' token";
    const { text } = await ask(createBashTool({ reduce: { level: 'salient', budgetTokens: 100 } }), {
      command: `${LONG}; echo "${failure}"; ${LONG}; exit 2`,
    });
    expect(text).toMatch(/^\[command failed: exit code 2\]\n\n/);
    expect(text).toContain(`\n${failure}\n`);
    expect(text).not.toContain('exit code: ');
  });

  it('the output of a whole stream that was cut is kept from its beginning', async () => {
    const outputs = new OutputStore({ dir: folder() });
    const { output, text } = await ask(createBashTool({ reduce: 'salient', outputs }), LONG.replace('600', '9000'));
    expect(output).toMatchObject({ truncation: { stdout: { totalLines: 9_000 } } });
    const { id, total } = closingOf(text);
    expect(total).toBe('9,000');
    expect(await outputs.read(id, { lines: [3, 3] })).toBe('module 3 of the application is compiled in 279 ms\n');
  });

  it('lines that a model asks for with head and tail are contents', async () => {
    for (const lines of [{ head: 500 }, { tail: 500 }]) {
      const { output, text } = await ask(createBashTool({ reduce: 'salient' }), { command: LONG, ...lines });
      expect(output).toMatchObject({ view: null });
      expect(text.split('\n').length).toBeGreaterThan(500);
    }
  });

  it('a trailing tail has the class of the command before it', async () => {
    const tool = createBashTool({ reduce: 'salient' });
    expect((await ask(tool, `${LONG} | tail -500`)).output).toMatchObject({ view: { class: 'green' } });
    const contents = `${folder()}/contents`;
    await ask(tool, `${LONG} > ${contents}`);
    expect((await ask(tool, `cat ${contents} | tail -500`)).output).toMatchObject({ view: null });
  });

  it('commands in a terminal, and those that start in the background, have no view', async () => {
    const terminal = createBashTool({ reduce: 'salient', terminal: {} });
    expect((await ask(terminal, LONG)).output).toMatchObject({ view: null });
  });

  it.each([
    ['a replacement for bash', () => ({ run: async () => ({ ...RESULT, stdout: LONG_TEXT }) })],
    ['a sandbox', () => ({ sandbox: createLocalSandboxSession() })],
    ['a session', () => ({ session: new BashSession() })],
  ] as [string, () => BashToolOptions][])('the output of %s is reduced, and can be recalled', async (_why, options) => {
    const tool = createBashTool({ ...options(), reduce: 'salient' });
    const { output, text } = await ask(tool, LONG);
    const { recall, from, to } = closingOf(text);
    expect(output).toMatchObject({ stdout: LONG_TEXT, view: { class: 'green' } });
    expect((await ask(tool, { recall })).text).toBe(linesOf(LONG_TEXT, from, to));
  });

  it('without a reduction a replacement for bash gets no option of it', async () => {
    const given: string[][] = [];
    const run = async (_command: string, options = {}) => {
      given.push(Reflect.ownKeys(options).map(String));
      return RESULT;
    };
    await ask(createBashTool({ run, reduce: 'salient' }), 'true');
    expect(given[0]).not.toContain('reduce');
    expect(given[0]?.filter((key) => /keeping|views|outputs/.test(key))).toEqual([]);
  });
});

describe('recall', () => {
  it('is an input where lines may be left out', () => {
    const without = { taps: 'off' } as const;
    expect(fieldsOf(without)).toEqual(FIELDS);
    expect(fieldsOf({ ...without, reduce: 'lossless' })).toEqual(FIELDS);
    expect(fieldsOf({ ...without, reduce: 'salient' })).toEqual([...FIELDS, 'recall']);
    expect(fieldsOf({ ...without, reduce: { level: 'salient' } })).toEqual([...FIELDS, 'recall']);
    expect(fieldsOf({ ...without, outputs: new OutputStore() })).toEqual([...FIELDS, 'recall']);
    expect(createBashTool({ reduce: 'salient' }).description).toContain('recall, in place of a command,');
    expect(fieldsOf({})).toEqual([...FIELDS, 'recall']);
    expect(createBashTool().description).not.toContain('recall');
  });

  it('goes without a command and the other questions', async () => {
    const without = await ask(createBashTool({ taps: 'off' }), { command: 'echo hi', recall: '1:2-3' });
    expect(without.text).toBe('hi\n\n[ignored input: recall]');
    const tool = createBashTool({ reduce: 'salient' });
    const error = 'exactly one of command, check_pid, kill_pid, wait_pid and recall must be given';
    for (const other of [{ command: 'true' }, { check_pid: 7 }, { kill_pid: 7 }]) {
      expect((await ask(tool, { ...other, recall: '1:2-3' })).output).toEqual({ error, code: 'ERR_BASH_INVALID_ARG' });
    }
    expect((await ask(tool, { command: 'echo hi', recall: null })).text).toBe('hi');
    expect((await ask(tool, { recall: 5 as never })).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });

  it('gives the lines alone, byte for byte', async () => {
    const tool = createBashTool({ reduce: 'salient' });
    const { id, from } = closingOf((await ask(tool, LONG)).text);
    const read = async (recall: string) => await ask(tool, { recall });
    expect(await read(`${id}:${from}-${from + 1}`)).toEqual({
      output: { status: 'recalled', exitCode: 0, text: linesOf(LONG_TEXT, from, from + 1) },
      type: 'text',
      text: linesOf(LONG_TEXT, from, from + 1),
    });
    expect((await read(`${id} /module (7|77) of/`)).text).toBe(linesOf(LONG_TEXT, 7, 7) + linesOf(LONG_TEXT, 77, 77));
    expect((await read(`${id}:600-900`)).text).toBe(linesOf(LONG_TEXT, 600, 600));
    expect((await read(`${id}:1-600`)).text).toBe(LONG_TEXT);
  });

  it('of an unknown, forgotten or malformed output is an error', async () => {
    const outputs = new OutputStore({ dir: folder() });
    const tool = createBashTool({ reduce: 'salient', outputs });
    const { id } = closingOf((await ask(tool, LONG)).text);
    expect((await ask(tool, { recall: '99:1-2' })).output).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
    for (const recall of [`${id}`, `${id}:9-3`, 'all of it', `${id} /(/`]) {
      expect(await ask(tool, { recall })).toMatchObject({
        output: { code: 'ERR_BASH_INVALID_ARG' },
        type: 'error-text',
      });
    }
    outputs.forget(id);
    const forgotten = await ask(tool, { recall: `${id}:1-2` });
    expect(forgotten.output).toMatchObject({ error: `there is no output ${id}`, code: 'ERR_BASH_UNKNOWN_OUTPUT' });
  });

  it('without it the closing line names the file alone', async () => {
    const tool = createBashTool({ confine: 'off', taps: 'off', perCall: () => ({ reduce: 'salient' as const }) });
    const { output, text } = await ask(tool, LONG);
    const path = /\n\[600 lines whole in (\S+)\]$/.exec(text)?.[1];
    expect(output).toMatchObject({ view: { id: 0, path } });
    expect(readFileSync(path as string, 'utf8')).toBe(LONG_TEXT);
  });

  it('each user of a tool can have a store', async () => {
    const stores: Record<string, OutputStore> = { ann: new OutputStore(), ben: new OutputStore() };
    const perCall = ({ context }: { context: unknown }) => ({ outputs: stores[String(context)] as OutputStore });
    const tool = createBashTool({ reduce: 'salient', perCall });
    const as = (context: string) => ({ experimental_context: context });
    const { recall } = closingOf((await ask(tool, LONG, as('ann'))).text);
    expect((await ask(tool, { recall }, as('ann'))).type).toBe('text');
    expect((await ask(tool, { recall }, as('ben'))).output).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
  });
});

describe('the same command at once again', () => {
  it('counts as a recall and is answered whole', async () => {
    const outputs = new OutputStore();
    const tool = createBashTool({ reduce: 'salient', outputs });
    closingOf((await ask(tool, LONG)).text);
    expect(outputs.stats()).toMatchObject([{ rule: 'budget', recalled: 0 }]);
    const { output, text } = await ask(tool, LONG);
    expect(output).toMatchObject({ view: { elided: [], rules: ['headings'] } });
    expect(text.split('\n')).toHaveLength(601);
    const [{ saved, recalled } = { saved: 0, recalled: -1 }] = outputs.stats();
    expect(saved).toBe(recalled);
  });

  it('only counts if nothing is in between, in the same directory', async () => {
    const tool = createBashTool({ reduce: 'salient' });
    await ask(tool, LONG);
    closingOf((await ask(tool, { command: LONG, cwd: '/' })).text);
    await ask(tool, 'true');
    closingOf((await ask(tool, { command: LONG, cwd: '/' })).text);
  });
});

describe('the same command with a call of another tool in between', () => {
  it('is reduced again, since the output may be another one', async () => {
    const talk = conversation({ reduce: 'salient' });
    closingOf((await talk.ask(LONG)).text);
    const edit = { toolCallId: 'edit-1', toolName: 'edit' };
    talk.messages.push(
      { role: 'assistant', content: [{ type: 'tool-call', ...edit, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...edit, output: { type: 'text', value: 'done' } }] },
    );
    closingOf((await talk.ask(LONG)).text);
    expect((await talk.ask(LONG)).output).toMatchObject({ view: { elided: [] } });
  });
});

describe('a hook that changes the output', () => {
  const hidden = (text: string) => text.replaceAll('hunter2', '***');

  it.each([
    ['in a copy', (result) => ({ ...result, stdout: hidden(result.stdout) })],
    ['in place', (result) => void Object.assign(result, { stdout: hidden(result.stdout) })],
  ] as [string, (result: BashResult) => BashResult][])(
    'no secret that it removes %s is in the view, or can be recalled',
    async (_how, remove) => {
      const outputs = new OutputStore({ dir: folder() });
      const secret = 'error: the token is hunter2';
      const onAfterRun = ({ result }: { result: BashToolOutput }) => ('notes' in result ? remove(result) : undefined);
      const tool = createBashTool({ reduce: 'salient', outputs, onAfterRun });
      const { text } = await ask(tool, `echo "${secret}"; ${LONG}`);
      const { id } = closingOf(text);
      expect(text).toContain('error: the token is ***\n');
      for (let known = 1; known <= id; known++) {
        expect(await outputs.read(known).catch(() => '')).not.toContain('hunter2');
      }
    },
  );

  it('a view of its own stays', async () => {
    const view = { ...VIEW, text: 'shorter' };
    const tool = createBashTool({
      onAfterRun: ({ result }) => ('notes' in result ? { ...result, stdout: 'other', view } : undefined),
    });
    expect((await ask(tool, REPEATS)).text).toBe('shorter');
  });
});

const VIEW = {
  text: '',
  tokens: { before: 9, after: 1 },
  class: 'green' as const,
  elided: [],
  rules: [],
  id: 0,
  path: null,
};
