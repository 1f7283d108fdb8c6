import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { bash } from 'agent-bash';
import {
  BASH_INSTRUCTIONS,
  type BashRunner,
  type BashToolInput,
  type BashToolOutput,
  createBashTool,
} from 'agent-bash/ai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { reaching } from '../support/index.ts';
import { callTool, RESULT, runTool } from './fixtures/call.ts';

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-bash-ai-')));
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'file'), '');
});
afterAll(() => rm(folder, { recursive: true }));

/** The real `bash`, with a record of its calls. */
function spied() {
  return vi.fn<BashRunner>(bash);
}

describe('a call', () => {
  it('is a result of the command, whole after structuredClone and JSON', async () => {
    const { output } = await callTool({}, 'echo out; echo err >&2; exit 3');
    expect(output).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, status: 'exited', notes: [] });
    expect(structuredClone(output)).toEqual(output);
    expect(JSON.parse(JSON.stringify(output))).toEqual(output);
  });

  it('takes null as left out', async () => {
    const input = { command: 'pwd', mode: null, timeout_ms: null, cwd: null, head: null, tail: null };
    expect(await runTool({ cwd: folder }, input)).toMatchObject({
      stdout: `${folder}\n`,
      timeoutMs: 30_000,
      notes: [],
    });
  });

  it.each([
    ['ERR_BASH_INVALID_ARG', 'command must be a string', { command: 1 }],
    ['ERR_BASH_INVALID_ARG', 'head must be a whole number of at least 1', { command: 'ls', head: 0 }],
    ['ERR_BASH_INVALID_ARG', 'mode must be "default", "slow" or "background"', { command: 'ls', mode: 'fast' }],
    [
      'ERR_BASH_INVALID_ARG',
      'exactly one of command, check_pid, kill_pid and wait_pid must be given',
      { command: 'ls', kill_pid: 7 },
    ],
    ['ERR_BASH_INVALID_ARG', 'the input must be an object', null],
    ['ERR_BASH_INVALID_ARG', 'command is empty: nothing ran', { command: '' }],
    ['ERR_BASH_INVALID_ARG', 'command is empty: nothing ran', { command: ' \n' }],
  ])('answers %s to bad input from a caller that does not validate', async (code, error, input) => {
    const run = spied();
    expect((await callTool({ run }, input as unknown as BashToolInput)).output).toEqual({ error, code });
    expect(run).not.toHaveBeenCalled();
  });

  it('is an error when nothing could be run', async () => {
    expect((await callTool({}, 'a\0b')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    const run = () => Promise.reject(new Error('no more processes'));
    expect(await callTool({ run }, 'true')).toMatchObject({
      output: { error: 'no more processes', code: 'ERR_BASH_SPAWN' },
      text: 'no more processes',
    });
    const throws = () => {
      throw 'a string';
    };
    expect((await callTool({ run: throws }, 'true')).output).toEqual({ error: 'a string', code: 'ERR_BASH_SPAWN' });
  });

  it('names input that it does not know', async () => {
    const input = { command: 'true', run_in_background: true, description: 'x', check_pid: null };
    expect(await runTool({}, input)).toMatchObject({
      notes: ['ignored input: run_in_background (did you mean mode "background"?), description'],
    });
    expect(await runTool({}, { command: 'true', timeout: 5, timeoutMs: 5 } as BashToolInput)).toMatchObject({
      notes: ['ignored input: timeout (did you mean timeout_ms?), timeoutMs (did you mean timeout_ms?)'],
    });
  });

  it('hands the tool options to bash, and none of its own', async () => {
    const run = spied();
    await runTool({ run, env: { X: '1' }, graceMs: 5, errorOnFailure: true, perCall: () => undefined }, 'true');
    const options = run.mock.calls[0]?.[1];
    expect(options).toMatchObject({ env: { X: '1' }, graceMs: 5, cwd: process.cwd() });
    expect(Object.keys(options ?? {}).sort()).toEqual(
      [
        'cwd',
        'env',
        'graceMs',
        'mode',
        'onSnapshot',
        'safety',
        'signal',
        'snapshotIntervalMs',
        'timeoutMs',
        'truncate',
      ].sort(),
    );
  });
});

describe('the directory', () => {
  it.each([
    ['relative', 'sub', 'sub'],
    ['relative, upwards', 'sub/..', '.'],
    ['empty', '', '.'],
    ['missing', null, '.'],
  ])('%s: resolved against that of the tool', async (_why, cwd, expected) => {
    expect(await runTool({ cwd: folder }, { command: 'pwd', cwd })).toMatchObject({
      stdout: `${join(folder, expected)}\n`,
    });
  });

  it('may be absolute', async () => {
    expect(
      await runTool({ cwd: join(folder, 'sub'), ...reaching(folder) }, { command: 'pwd', cwd: folder }),
    ).toMatchObject({ stdout: `${folder}\n` });
  });

  it('of the tool may be relative to that of the process', async () => {
    const cwd = relative(process.cwd(), folder);
    expect(await runTool({ cwd }, { command: 'pwd', cwd: 'sub' })).toMatchObject({ stdout: `${folder}/sub\n` });
  });

  it('must exist and be a directory', async () => {
    expect(await callTool({ cwd: folder }, { command: 'true', cwd: 'none' })).toMatchObject({
      output: { error: `Working directory does not exist: ${folder}/none`, code: 'ERR_BASH_CWD_NOT_FOUND' },
      text: `Working directory does not exist: ${folder}/none`,
    });
    expect((await callTool({ cwd: folder }, { command: 'true', cwd: 'file' })).output).toEqual({
      error: `Working directory is not a directory: ${folder}/file`,
      code: 'ERR_BASH_CWD_NOT_DIRECTORY',
    });
    const wrong = { cwd: 5 as unknown as string };
    expect((await callTool(wrong, 'true')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });
});

describe('the time limit', () => {
  it.each([
    ['none', {}, {}, 30_000],
    ['the mode of the tool', { mode: 'slow' }, {}, 900_000],
    ['the mode of the call', {}, { mode: 'slow' }, 900_000],
    ['the mode of the call before that of the tool', { mode: 'slow' }, { mode: 'default' }, 30_000],
    ["the tool's before the modes", { timeoutMs: 5_000 }, { mode: 'slow' }, 5_000],
    ["the call's before the tool's", { timeoutMs: 5_000 }, { timeout_ms: 7_000 }, 7_000],
    ["the call's before the modes", {}, { timeout_ms: 7_000, mode: 'slow' }, 7_000],
    ['the shortest', {}, { timeout_ms: 1_000 }, 1_000],
    ['the longest', {}, { timeout_ms: 3_600_000 }, 3_600_000],
    ['rounded', {}, { timeout_ms: 1_999.6 }, 2_000],
    ['that of the tool may be shorter', { timeoutMs: 999 }, {}, 999],
  ] as const)('%s', async (_why, options, input, timeoutMs) => {
    expect(await runTool(options, { command: 'true', ...input })).toMatchObject({ timeoutMs, notes: [] });
  });

  it.each([
    [999, 1_000, 'the shortest'],
    [0, 1_000, 'the shortest'],
    [-5, 1_000, 'the shortest'],
    [3_600_001, 3_600_000, 'the longest'],
    [1e12, 3_600_000, 'the longest'],
  ])('%d is clamped to %d with a note', async (asked, timeoutMs, which) => {
    expect(await runTool({}, { command: 'true', timeout_ms: asked })).toMatchObject({
      timeoutMs,
      notes: [`timeout_ms ${asked} was taken as ${timeoutMs}, ${which} that may be asked for`],
    });
  });

  it('ends the command and keeps its output', async () => {
    const { status, stdout, exitCode, text } = await runTool(
      {},
      { command: 'echo BEFORE; sleep 81', timeout_ms: 1_000 },
    );
    expect({ status, stdout, exitCode }).toEqual({ status: 'timed-out', stdout: 'BEFORE\n', exitCode: 124 });
    expect(text).toMatch(/^\[command timed out after 1s\]\n\nBEFORE\n\nexit code: 124\n\nTo give .* mode "slow"/);
  });
});

describe('perCall', () => {
  it('replaces option by option', async () => {
    const run = spied();
    const options = { run, cwd: folder, env: { A: '1' }, timeoutMs: 5_000 };
    const perCall = vi.fn(() => ({ env: { B: '2' }, timeoutMs: undefined }));
    await runTool({ ...options, perCall }, 'true', { toolCallId: 'id-1' });
    expect(perCall).toHaveBeenCalledExactlyOnceWith({ context: undefined, toolCallId: 'id-1' });
    expect(run.mock.calls[0]?.[1]).toMatchObject({ env: { B: '2' }, cwd: folder, timeoutMs: 5_000 });
  });

  it.each(['experimental_context', 'context'])('is asked with the %s of the call', async (name) => {
    const perCall = ({ context }: { context: unknown }) => ({ env: { WHO: (context as { user: string }).user } });
    const { stdout } = await runTool({ perCall }, 'echo $WHO', { [name]: { user: 'ann' } });
    expect(stdout).toBe('ann\n');
  });

  it('may give each call another directory, which the call resolves against', async () => {
    const { stdout } = await runTool({ cwd: '/', perCall: () => ({ cwd: folder }) }, { command: 'pwd', cwd: 'sub' });
    expect(stdout).toBe(`${folder}/sub\n`);
  });

  it('that throws runs nothing', async () => {
    const run = spied();
    const perCall = () => {
      throw new Error('no such user');
    };
    expect((await callTool({ run, perCall }, 'true')).output).toEqual({
      error: 'no such user',
      code: 'ERR_BASH_INVALID_ARG',
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('sets errorOnFailure for one call', async () => {
    const tool = createBashTool({ perCall: ({ context }) => ({ errorOnFailure: context === 'strict' }) });
    for (const [context, type] of [
      ['strict', 'error-text'],
      ['easy', 'text'],
    ]) {
      for await (const output of tool.execute(
        { command: 'exit 1' },
        { toolCallId: '1', experimental_context: context },
      )) {
        expect(tool.toModelOutput({ output }).type).toBe(type);
      }
    }
  });
});

describe('the hooks', () => {
  it('may change the command and the output', async () => {
    const { output } = await callTool(
      {
        onBeforeRun: async ({ command }) => ({ command: `${command} two` }),
        onAfterRun: ({ command, result }) =>
          'stdout' in result ? { ...result, stdout: `${command}: ${result.stdout}` } : undefined,
      },
      'echo one',
    );
    expect(output).toMatchObject({ stdout: 'echo one two: one two\n' });
  });

  it('may do nothing', async () => {
    const seen: unknown[] = [];
    const hooks = { onBeforeRun: (input: unknown) => void seen.push(input), onAfterRun: async () => {} };
    expect(await runTool(hooks, 'echo a | tail -3')).toMatchObject({ stdout: 'a\n' });
    expect(seen).toEqual([{ command: 'echo a | tail -3' }]);
  });

  it('before: a throw refuses the command', async () => {
    const run = spied();
    const refuse = async () => {
      throw new Error('not on Fridays');
    };
    const { output, text } = await callTool({ run, onBeforeRun: refuse }, 'true');
    expect(output).toEqual({ error: 'not on Fridays', code: 'ERR_BASH_BLOCKED' });
    expect(text).toBe('not on Fridays');
    expect(run).not.toHaveBeenCalled();
  });

  it('after: a throw is a note, since the command has run', async () => {
    const onAfterRun = () => {
      throw new Error('log is full');
    };
    expect(await runTool({ onAfterRun }, 'echo a')).toMatchObject({
      stdout: 'a\n',
      notes: ['onAfterRun failed: log is full'],
    });
    expect((await callTool({ onAfterRun, cwd: '/none' }, 'true')).output).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
    });
  });

  it('after: sees a refusal to run', async () => {
    const onAfterRun = vi.fn();
    await callTool({ onAfterRun, cwd: '/none' }, 'true');
    expect(onAfterRun.mock.calls).toMatchObject([[{ command: 'true', result: { code: 'ERR_BASH_CWD_NOT_FOUND' } }]]);
  });
});

describe('an abort', () => {
  it('before the call starts nothing', async () => {
    const output = await runTool({}, 'echo a', { abortSignal: AbortSignal.abort() });
    expect(output).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, stdout: '' });
    expect(output.text).toBe('[command interrupted]\n\n(no output)\n\nexit code: 130');
  });

  it('ends the command, and its output is kept', async () => {
    const abort = new AbortController();
    const onOutput = (output: BashToolOutput) => void ('stdout' in output && output.stdout && abort.abort());
    const call = { abortSignal: abort.signal, onOutput };
    expect(await runTool({ updateIntervalMs: 20 }, 'echo first; sleep 60', call)).toMatchObject({
      status: 'aborted',
      exitCode: 130,
      stdout: 'first\n',
      notes: [],
    });
  });

  it('by a time limit of the caller says so', async () => {
    const output = await runTool({}, 'echo first; sleep 60', { abortSignal: AbortSignal.timeout(1_000) });
    expect(output).toMatchObject({ status: 'aborted', stdout: 'first\n' });
    expect(output.notes).toContain('the time limit of the tool call was reached');
  });

  it('leaves no listener on the signal of the call', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    for (const command of ['true', 'echo a | head -1', 'a\0b']) await callTool({}, command, { abortSignal: signal });
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
    expect(add.mock.calls.length).toBe(3);
  });

  it('giving up the iteration ends the command', async () => {
    const tool = createBashTool({ updateIntervalMs: 20 });
    let pid = 0;
    for await (const output of tool.execute({ command: 'echo a; sleep 60' }, { toolCallId: '1' })) {
      if ('pid' in output) pid = output.pid;
      break;
    }
    expect(pid).toBeGreaterThan(0);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 5_000 });
  });
});

describe('the model’s description', () => {
  it('ends with the directory', () => {
    expect(createBashTool({ cwd: folder }).description).toMatch(new RegExp(`\n<pwd>${folder}</pwd>$`));
    expect(createBashTool().description).toMatch(new RegExp(`\n<pwd>${process.cwd()}</pwd>$`));
  });

  it.each([
    [{}, ['Mode "background"', 'pid', 'check_pid', 'kill_pid', 'wait_pid', 'the command and all it started are ended']],
    [{ onTimeout: 'background' }, ['The time limit is 120 s', 'the command goes on in the background']],
    [{ onTimeout: 'background', timeoutMs: 5_000 }, ['The time limit is 5 s']],
    [{}, ['bash -c', '30 s', 'mode "slow"', '15 min', 'the last 2000 lines or 51200 bytes', 'file', '60k tokens']],
    [{ mode: 'slow' }, ['The time limit is 15 min']],
    [{ mode: 'background' }, ['The time limit is 24 h']],
    [{ timeoutMs: 5_000 }, ['The time limit is 5 s; timeout_ms']],
    [{ truncate: { keep: 'head', maxChars: 30_000 } }, ['the first 30000 characters']],
    [{ truncate: { keep: 'ends', maxBytes: 9, headBytes: 4, tailBytes: 5 } }, ['the first 4 and last 5 bytes']],
    [{ truncate: { keep: 'tail' } }, ['the last 16 MiB']],
  ] as const)('says what holds with %j', (options, parts) => {
    const { description } = createBashTool(options as never);
    for (const part of parts) expect(description).toContain(part);
  });

  it('names no file where none is written', () => {
    expect(createBashTool({ spill: false }).description).not.toContain('notice names');
  });

  it('may be said otherwise', () => {
    expect(createBashTool({ description: 'a shell' }).description).toBe('a shell');
    expect(createBashTool({ cwd: folder, description: ({ cwd }) => `in ${cwd}` }).description).toBe(`in ${folder}`);
  });

  it('has words for the system prompt', () => {
    expect(BASH_INSTRUCTIONS).toMatch(/tests.*dependencies.*build.*git.*background.*read, write, edit, glob, grep/s);
  });
});

describe('silence', () => {
  const note = '[silence: the command wrote nothing for 0.3 s (idleTimeoutMs), which counts as its time limit]';

  it('is a limit of the tool, and the model reads why', async () => {
    const { text, timeoutMs } = await runTool({ idleTimeoutMs: 300 }, 'echo up; sleep 60');
    expect(timeoutMs).toBe(300);
    expect(text).toBe(
      `[command timed out after 0.3s]\n\nup\n\nexit code: 124\n\nIt was the silence that counted, which more time does not change. Have the command print its progress, or use mode "background".\n\n${note}`,
    );
  });

  it('is described to the model', () => {
    const { description } = createBashTool({ idleTimeoutMs: 90_000 });
    expect(description).toContain('A command that prints nothing for 90 s is at its limit, too.');
    expect(createBashTool({ idleTimeoutMs: 90_000, terminal: {} }).description).not.toContain('90 s');
  });

  it('does not end what the model starts in the background', async () => {
    const run = spied();
    await callTool({ run, idleTimeoutMs: 300 }, { command: 'true' });
    expect(run.mock.calls[0]?.[1]).toMatchObject({ idleTimeoutMs: 300 });
    const noted = vi.fn<BashRunner>(async () => ({ ...RESULT }));
    await callTool({ run: noted, idleTimeoutMs: 300 }, { command: 'true', mode: 'background' });
    expect(noted.mock.calls[0]?.[1]?.idleTimeoutMs).toBeUndefined();
  });

  it('is not counted in a terminal', async () => {
    const { text } = await runTool({ idleTimeoutMs: 200, terminal: {} }, 'sleep 1; echo end');
    expect(text).not.toContain('silence');
  });
});
