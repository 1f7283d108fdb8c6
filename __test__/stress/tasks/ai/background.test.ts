import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BackgroundTask, bash, defaultRegistry } from 'agent-bash';
import { type BashRunner, type BashToolInput, backgroundNotices, createBashTool } from 'agent-bash/ai';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { callTool, runTool } from '../../../ai/fixtures/call.ts';
import { alive, confined, folder, hostEnv, mark, sleepers, stateFolder, until } from '../../../support/index.ts';

let registry: BackgroundRegistry;

beforeEach(() => {
  const made = new BackgroundRegistry();
  registry = made;
  onTestFinished(() => made.close());
});

/** A call about a task: its check. */
async function ask(input: BashToolInput, options = {}) {
  const { output, text } = await callTool({ registry, ...options }, input);
  if (!('task' in output)) throw new Error(`no check: ${JSON.stringify(output)}`);
  return { ...output, text };
}

/** Starts a command by the tool; gives the task. */
async function start(command: string, input: BashToolInput = {}, options = {}): Promise<BackgroundTask> {
  const { background } = await runTool({ registry, ...options }, { command, mode: 'background', ...input });
  if (!background) throw new Error('not in the background');
  return background;
}

describe('mode "background"', () => {
  it('returns at once with pid, log and how to stop it, and that is true', async () => {
    const seconds = mark();
    const { text, status, exitCode, background, stdout } = await runTool(
      { registry },
      { command: `sleep ${seconds}`, mode: 'background' },
    );
    expect({ status, exitCode, stdout }).toEqual({ status: 'backgrounded', exitCode: null, stdout: '' });
    const [, pid, file, stop = ''] =
      /^<pid>(\d+)<\/pid>\n\n<output_file>(.+)<\/output_file>\n\n<reminder>To stop: (.+)<\/reminder>$/.exec(text) ?? [];
    // Confined commands see processes under other numbers.
    expect(stop).toBe(confined ? `kill_pid ${pid}` : `kill -9 -${pid}`);
    expect({ pid: Number(pid), file }).toEqual({ pid: background?.pid, file: background?.logPath });
    await until(() => sleepers(seconds).length === 1);
    if (confined) await ask({ kill_pid: Number(pid) });
    else expect((await bash(stop)).exitCode).toBe(0);
    await until(() => sleepers(seconds).length === 0);
    const signal = confined ? 'SIGTERM' : 'SIGKILL';
    expect(await registry.wait(Number(pid))).toMatchObject({ task: { state: 'killed', signal } });
  });

  it('keeps a trailing pipe, and names inputs without meaning', async () => {
    const { background, notes } = await runTool(
      { registry },
      { command: 'seq 9 | tail -2', mode: 'background', head: 1, tail: 1 },
    );
    expect(notes).toEqual(['ignored input: head, tail']);
    await registry.wait(background?.id ?? '');
    expect(readFileSync(background?.logPath ?? '', 'utf8')).toMatch(/^8\n9\n\[background process completed\]\n$/);
  });

  it.each([
    [3_700_000, 3_700_000, []],
    [90_000_000, 86_400_000, ['timeout_ms 90000000 was taken as 86400000, the longest that may be asked for']],
  ])('may be limited to %d ms', async (timeout_ms, timeoutMs, notes) => {
    const run = vi.fn<BashRunner>(bash);
    const output = await runTool({ registry, run }, { command: 'true', mode: 'background', timeout_ms });
    expect(run.mock.calls[0]?.[1]).toMatchObject({ timeoutMs });
    expect(output.notes).toEqual(notes);
  });
});

describe('a command at its limit', () => {
  it('moves to the background with a registry, and goes on', async () => {
    const { text, background, updates } = await runTool(
      { registry, updateIntervalMs: 20 },
      { command: 'echo before; echo oops >&2; sleep 2; echo after', timeout_ms: 1_000 },
    );
    expect(text).toBe(
      `[Command backgrounded after 1s timeout (pid ${background?.pid}). Partial output:\n\nstdout:\nbefore\n\nstderr:\noops\n\nFull output: ${background?.logPath}\n\nUse check_pid or kill_pid to manage.]`,
    );
    expect(updates.length).toBeGreaterThan(0);
    await registry.wait(background?.id ?? '');
    expect(readFileSync(background?.logPath ?? '', 'utf8')).toMatch(
      /^(before\noops|oops\nbefore)\nafter\n\[background process completed\]\n$/,
    );
  });

  it('is killed without one, even after other background starts', async () => {
    hostEnv({ XDG_STATE_HOME: stateFolder() });
    onTestFinished(() => defaultRegistry().close());
    const { background } = await runTool({}, { command: 'sleep 60', mode: 'background' });
    expect(await runTool({}, { command: 'sleep 60', timeout_ms: 1_000 })).toMatchObject({ status: 'timed-out' });
    await callTool({}, { kill_pid: background?.pid });
  });

  it('is killed with onTimeout "kill"', async () => {
    const output = await runTool({ registry, onTimeout: 'kill' }, { command: 'sleep 60', timeout_ms: 1_000 });
    expect(output).toMatchObject({ status: 'timed-out', background: null });
  });

  it('is 120 s by default with a registry', async () => {
    expect(await runTool({ registry }, 'true')).toMatchObject({ timeoutMs: 120_000 });
    expect(createBashTool({ registry }).description).toContain('The time limit is 120 s');
  });
});

it('what a command leaves running is named, with how to manage it', async () => {
  const cwd = folder();
  const fifo = join(cwd, 'fifo');
  const { text, survivors } = await runTool(
    { registry, cwd },
    `mkfifo ${fifo}; (read x <${fifo}; echo late) & echo hi`,
  );
  const [task] = registry.list();
  expect(survivors[0]).toMatchObject({ pid: task?.pid, taskId: task?.id });
  expect(text).toBe(
    `hi\n\n[left running in the background: process ${task?.pid}; check_pid or kill_pid to manage it; its further output: ${task?.logPath}]`,
  );
  await bash(`echo >${fifo}`, { cwd });
  expect(await registry.wait(task?.id ?? '')).toMatchObject({ output: 'late\n' });
});

describe('check_pid', () => {
  it('gives new output, once', async () => {
    const cwd = folder();
    const fifo = join(cwd, 'fifo');
    const command = `mkfifo ${fifo}; echo one; read x <${fifo}; echo two; exit 3`;
    const { pid, logPath } = await start(command, {}, { cwd });
    await until(() => readFileSync(logPath, 'utf8') === 'one\n');
    expect((await ask({ check_pid: pid })).text).toBe(
      `[Process ${pid} still running.\n\nNew output since last check (1 lines):\none\n\nFull output: ${logPath}]`,
    );
    expect((await ask({ check_pid: pid })).text).toBe(
      `[Process ${pid} still running.\n\nNo new output since last check.\n\nFull output: ${logPath}]`,
    );
    await bash(`echo >${fifo}`, { cwd });
    await until(() => registry.list()[0]?.state === 'exited');
    expect((await ask({ check_pid: pid })).text).toBe(
      `[Process ${pid} exited with code 3.\n\nNew output since last check (1 lines):\ntwo\n\nFull output: ${logPath}]`,
    );
  });

  it('of an unknown process is an error that names it', async () => {
    for (const input of [{ check_pid: 999_999_999 }, { kill_pid: 999_999_999 }]) {
      const { output, text } = await callTool({ registry }, input);
      expect(output).toMatchObject({ code: 'ERR_BASH_UNKNOWN_TASK', error: expect.stringContaining('999999999') });
      expect(text).toContain('999999999');
    }
  });

  it('with a registry that is closed is an error', async () => {
    await registry.close();
    expect((await callTool({ registry }, { check_pid: 7 })).output).toMatchObject({ code: 'ERR_BASH_CLOSED' });
    expect((await callTool({ registry }, 'true')).output).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });

  it('whose call was interrupted before reads nothing', async () => {
    const { pid, logPath } = await start('echo one; sleep 60');
    await until(() => readFileSync(logPath, 'utf8') === 'one\n');
    const { output } = await callTool({ registry }, { check_pid: pid }, { abortSignal: AbortSignal.abort() });
    expect(output).toMatchObject({ code: 'ABORT_ERR', error: expect.stringContaining(`process ${pid}`) });
    expect(await ask({ check_pid: pid })).toMatchObject({ output: 'one\n' });
  });

  it('runs no hook', async () => {
    const { pid } = await start('sleep 60');
    const hooks = { onBeforeRun: vi.fn(), onAfterRun: vi.fn() };
    await ask({ check_pid: pid }, hooks);
    expect(hooks.onBeforeRun).not.toHaveBeenCalled();
    expect(hooks.onAfterRun).not.toHaveBeenCalled();
  });

  it('uses the registry of the call', async () => {
    const { pid } = await start('sleep 60');
    const { output } = await callTool({ perCall: () => ({ registry }) }, { check_pid: pid });
    expect(output).toMatchObject({ task: { pid, state: 'running' } });
  });

  it('whole after structuredClone and JSON', async () => {
    const { pid } = await start('echo a; sleep 60');
    const { output } = await callTool({ registry }, { check_pid: pid });
    expect(structuredClone(output)).toEqual(output);
    expect(JSON.parse(JSON.stringify(output))).toEqual(output);
  });
});

describe('kill_pid', () => {
  it('ends the whole tree and gives the rest of the output', async () => {
    const seconds = mark();
    const { pid, id, logPath } = await start(
      `trap 'echo bye; exit' TERM; sleep ${seconds} & setsid sleep ${seconds} & echo up; wait`,
    );
    await registry.wait(id, { pattern: 'up' });
    await until(() => sleepers(seconds).length === 2);
    const { text, task } = await ask({ kill_pid: pid });
    expect(task).toMatchObject({ state: 'killed' });
    expect(text).toBe(
      `[Process ${pid} was killed: ${task.signal}.\n\nNew output since last check (1 lines):\nbye\n\nFull output: ${logPath}]`,
    );
    expect(sleepers(seconds)).toEqual([]);
    expect(alive(pid)).toBe(false);
  });

  it('of one that has ended says how it did', async () => {
    const { pid, id } = await start('exit 4');
    await registry.wait(id);
    expect((await ask({ kill_pid: pid })).text).toMatch(`[Process ${pid} exited with code 4.`);
  });

  it('whose call is interrupted no longer waits, and goes on', async () => {
    const seconds = mark();
    const { pid, id } = await start(`trap '' TERM; echo up; sleep ${seconds}; sleep ${seconds}`);
    await registry.wait(id, { pattern: 'up' });
    const abort = new AbortController();
    const calling = callTool({ registry }, { kill_pid: pid }, { abortSignal: abort.signal });
    setImmediate(() => abort.abort());
    expect((await calling).output).toMatchObject({ code: 'ABORT_ERR' });
    expect(await registry.wait(id)).toMatchObject({ task: { state: 'killed' } });
    expect(sleepers(seconds)).toEqual([]);
  });

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const { pid } = await start('sleep 60');
    await callTool({ registry }, { check_pid: pid }, { abortSignal: signal });
    await callTool({ registry }, { kill_pid: pid }, { abortSignal: signal });
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });
});

describe('without a registry', () => {
  it('the default one holds the tasks', async () => {
    hostEnv({ XDG_STATE_HOME: stateFolder() });
    onTestFinished(() => defaultRegistry().close());
    const { background } = await runTool({}, { command: 'sleep 60', mode: 'background' });
    expect(defaultRegistry().list()).toMatchObject([{ id: background?.id, state: 'running' }]);
    const { output } = await callTool({}, { check_pid: background?.pid });
    expect(output).toMatchObject({ task: { id: background?.id } });
    expect((await callTool({}, { kill_pid: background?.pid })).output).toMatchObject({ task: { state: 'killed' } });
  });
});

describe('what the model reads where the host tells of ends', () => {
  const hint = '[you are told when it ends: there is no need to poll]';

  it('says that there is no need to poll, as long as the process runs', async () => {
    const tool = { registry };
    const before = await runTool(tool, { command: 'sleep 60', mode: 'background' });
    expect(before.text).not.toContain(hint);
    backgroundNotices(registry);
    const { text, background } = await runTool(tool, { command: 'sleep 60', mode: 'background' });
    expect(text.endsWith(`</reminder>\n\n${hint}`)).toBe(true);
    const copy = JSON.parse(JSON.stringify((await callTool(tool, { check_pid: background?.pid })).output));
    expect(createBashTool(tool).toModelOutput({ output: copy }).value.endsWith(`]\n\n${hint}`)).toBe(true);
    const running = await callTool(tool, { check_pid: background?.pid });
    expect(running.text.endsWith(`]\n\n${hint}`)).toBe(true);
    const killed = await callTool(tool, { kill_pid: background?.pid });
    expect(killed.text).not.toContain(hint);
    expect((await runTool(tool, 'true')).text).not.toContain(hint);
  });
});
