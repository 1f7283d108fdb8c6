import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TerminalList } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import { terminals } from '../../../ai/fixtures/terminal.ts';
import { alive, until as eventually, folder, host, mark, sleepers } from '../../../support/index.ts';

const PYTHON = 'PYTHON_BASIC_REPL=1 python3 -q';

describe('a program in a terminal', () => {
  it('is started, answered and ended, and each call shows the screen that it has led to', async () => {
    const { see, until } = terminals();
    const started = await see({ action: 'start', command: PYTHON });
    expect(started).toMatchObject({ id: 't1', command: PYTHON, cols: 80, rows: 24, end: null, reason: 'settled' });
    await until('>>>');
    await see({ action: 'send', id: 't1', text: 'print(6 * 7)\n' });
    const answered = await until('\n42\n');
    expect(answered.lines).toEqual(['>>> print(6 * 7)', '42', '>>>']);
    expect(answered.cursor).toEqual({ row: 2, col: 4 });
    expect(answered.text).toBe(
      `[terminal t1 is running: ${PYTHON}]\n\n>>> print(6 * 7)\n42\n>>>\n\n[cursor: row 3, column 5 of 24 × 80]`,
    );
    await see({ action: 'send', keys: ['Ctrl-D'] });
    const ended = await see({ action: 'wait' });
    expect(ended).toMatchObject({ reason: 'ended', end: { status: 'exited', exitCode: 0, signal: null } });
    expect(ended.text).toMatch(`[terminal t1 has ended, exit code 0: ${PYTHON}]\n\n>>> print(6 * 7)\n42`);
    expect(ended.text).not.toMatch('cursor');
  });

  it('has a moment to answer, where it does not echo', async () => {
    const { see } = terminals();
    await see({ action: 'start', command: 'stty -echo; echo ready; read -r; sleep .5; echo answered; cat' });
    const answered = await see({ action: 'send', keys: ['Enter'] });
    expect(answered).toMatchObject({ reason: 'settled', lines: ['ready', 'answered'] });
  });

  it('has a terminal of the given size, and learns of a new one', async () => {
    const { see, until } = terminals();
    const command = "trap 'stty size' WINCH; tty -s && stty size; while :; do read -r; done";
    await see({ action: 'start', command, cols: 100, rows: 10 });
    await until('10 100');
    const resized = await see({ action: 'resize', cols: 40 });
    expect(resized).toMatchObject({ cols: 40, rows: 10 });
    await see({ action: 'send', keys: ['Enter'] });
    expect((await until('10 40')).text).toMatch('of 10 × 40]');
  });

  it('starts in the directory of the tool, or one below it', async () => {
    const cwd = folder();
    mkdirSync(join(cwd, 'sub'));
    const { run } = terminals({ cwd });
    expect((await run({ command: 'pwd', cols: 300 })).lines).toEqual([cwd]);
    expect((await run({ command: 'pwd', cwd: 'sub', cols: 300 })).lines).toEqual([join(cwd, 'sub')]);
  });

  it('that ends at once is shown with its last words', async () => {
    const { run } = terminals();
    const ended = await run({ command: 'echo gone; exit 3' });
    expect(ended).toMatchObject({ lines: ['gone'], reason: 'ended', end: { status: 'exited', exitCode: 3 } });
    expect(ended.text).toBe('[terminal t1 has ended, exit code 3: echo gone; exit 3]\n\ngone');
  });

  it('is reported as ended by a signal', async () => {
    const { run } = terminals();
    const { text } = await run({ command: 'kill -9 $$' });
    expect(text).toMatch('[terminal t1 has ended, killed: SIGKILL: kill -9 $$]');
  });

  it('that uses the whole screen says so, with its title', async () => {
    const { see, until } = terminals();
    const command = String.raw`printf '\e[?1049h\e]2;the title\a\e[H\e[2;5Hhere'; read -r`;
    await see({ action: 'start', command });
    const { lines, text } = await until('here');
    expect(lines).toEqual(['', '    here']);
    expect(text).toMatch('[cursor: row 2, column 9 of 24 × 80; title: the title; the program uses the whole screen]');
  });

  it('may end between two calls: nothing is typed, and its last screen stays', async () => {
    const place = folder();
    const { see, refused } = terminals({ cwd: place });
    const command = `echo last; until [ -e '${place}/go' ]; do sleep .01; done; exit 5`;
    const { pid } = await see({ action: 'start', command });
    writeFileSync(join(place, 'go'), '');
    await eventually(() => !alive(pid));
    await see({ action: 'wait' });
    expect(await refused({ action: 'send', text: 'x' })).toEqual([
      'ERR_BASH_CLOSED',
      'terminal t1 has ended, exit code 5: nothing was typed. read shows its last screen',
    ]);
    expect((await refused({ action: 'resize', cols: 5 }))[1]).toMatch('nothing was resized');
    expect(await see({ action: 'read' })).toMatchObject({ lines: ['last'], end: { exitCode: 5 } });
    expect(await see({ action: 'stop' })).toMatchObject({ lines: ['last'], end: { exitCode: 5 } });
  });

  it('is stopped with all that it started', async () => {
    const { see, until } = terminals();
    const seconds = mark();
    const started = await see({ action: 'start', command: `sleep ${seconds} & echo child; wait` });
    await until('child');
    await eventually(() => sleepers(seconds).length === 1);
    const stopped = await see({ action: 'stop' });
    expect(stopped).toMatchObject({ reason: 'ended', end: { status: 'aborted', exitCode: 130 } });
    expect(stopped.text).toMatch('[terminal t1 has ended, it was stopped: sleep');
    await eventually(() => !alive(started.pid) && sleepers(seconds).length === 0);
  });
});

describe('only what changed', () => {
  it('is shown with the numbers of the rows, against what the model has seen', async () => {
    const { see, until } = terminals();
    const draw = (row: number, text: string) => String.raw`printf '\e[${row};1H\e[K${text}'; read -rs;`;
    const command = draw(2, 'two') + draw(10, 'ten') + draw(2, 'TWO') + draw(2, '');
    const first = await see({ action: 'start', command, changed: true });
    expect(first).toMatchObject({ changed: [{ row: 1, text: 'two' }], lines: ['', 'two'] });
    expect(first.text).toMatch('\n\n 2| two\n\n');
    await see({ action: 'send', keys: ['Enter'] });
    await until('ten');
    expect((await see({ action: 'read', changed: true })).text).toMatch('\n\n(nothing has changed)\n\n');
    /** Lines that both screens show, whichever is read in time. */
    const enter = async (pattern: string) => {
      const sent = await see({ action: 'send', keys: ['Enter'], changed: true });
      const waited = await see({ action: 'wait', pattern, timeout_ms: 60_000, changed: true });
      return { changed: [sent, waited].flatMap(({ changed }) => changed ?? []), text: sent.text + waited.text };
    };
    expect((await enter('TWO')).changed).toEqual([{ row: 1, text: 'TWO' }]);
    const fourth = await enter('^\\n\\n');
    expect(fourth.changed).toEqual([{ row: 1, text: '' }]);
    expect(fourth.text).toMatch('\n\n 2|\n\n');
    expect((await see({ action: 'read' })).changed).toBeNull();
  });

  it('is all of it after another size', async () => {
    const { see, until } = terminals();
    await see({ action: 'start', command: 'echo a; echo b; cat' });
    await until('b');
    const { changed } = await see({ action: 'resize', rows: 30, changed: true });
    expect(changed).toEqual([
      { row: 0, text: 'a' },
      { row: 1, text: 'b' },
    ]);
  });
});

describe('a wait', () => {
  it('ends when a text is on the screen, or was there already', async () => {
    const { see } = terminals();
    await see({ action: 'start', command: 'echo already; read -r; echo "and [now]"; cat' });
    expect(await see({ action: 'wait', text: 'already' })).toMatchObject({ reason: 'appeared' });
    await see({ action: 'send', keys: ['Enter'] });
    expect(await see({ action: 'wait', text: '[now]', timeout_ms: 60_000 })).toMatchObject({ reason: 'appeared' });
  });

  it('ends when a pattern matches the screen: its end is where the cursor stands behind a prompt', async () => {
    const { see, until } = terminals();
    await see({ action: 'start', command: PYTHON });
    await until('>>>');
    await see({ action: 'send', text: 'import time; time.sleep(1); print("sl" + "ept")\n' });
    const waited = await see({ action: 'wait', pattern: '\\nslept\\n>>> $', timeout_ms: 60_000 });
    expect(waited).toMatchObject({ reason: 'appeared', notes: [] });
    expect(waited.lines.at(-1)).toBe('>>>');
  });

  it('ends when the program is quiet', async () => {
    const { see } = terminals();
    await see({ action: 'start', command: 'for i in 1 2 3 4 5 6; do sleep .3; echo $i; done; cat' });
    const waited = await see({ action: 'wait', idle_ms: 2_000, timeout_ms: 60_000 });
    expect(waited).toMatchObject({ reason: 'idle', lines: ['1', '2', '3', '4', '5', '6'] });
  });

  it('ends with the program, and says what did not come', async () => {
    const { see } = terminals();
    await see({ action: 'start', command: 'read -r; echo over' });
    await see({ action: 'send', keys: ['Enter'] });
    const waited = await see({ action: 'wait', text: 'never', timeout_ms: 60_000 });
    expect(waited).toMatchObject({ reason: 'ended', lines: ['', 'over'], notes: ['"never" is not on the screen'] });
  });

  it('ends at its limit, also during a wait', async () => {
    const { see } = terminals();
    await see({ action: 'start', command: 'cat' });
    const text = await see({ action: 'wait', text: 'never', timeout_ms: 50 });
    expect(text).toMatchObject({ reason: 'timeout', notes: ['"never" is not on the screen after 0.05 s'] });
    const end = await see({ action: 'wait', timeout_ms: -5 });
    expect(end).toMatchObject({ reason: 'timeout', notes: ['the program is still running after 0.001 s'] });
  });
});

describe('several terminals', () => {
  it('have ids of their own, and one alone needs none', async () => {
    const { see, until, refused, call } = terminals();
    expect(await refused({ action: 'read' })).toEqual(['ERR_BASH_UNKNOWN_TASK', 'id is needed: none was started']);
    await see({ action: 'start', command: 'cat' });
    await see({ action: 'start', command: 'cat; exit 4' });
    await see({ action: 'send', id: 't1', text: 'one' });
    await see({ action: 'send', id: 't2', text: 'two' });
    expect((await until('one', 't1')).lines).toEqual(['one']);
    expect((await until('two', 't2')).lines).toEqual(['two']);
    expect(await refused({ action: 'read' })).toEqual(['ERR_BASH_UNKNOWN_TASK', 'id is needed: there are t1, t2']);
    expect((await refused({ action: 'read', id: 'x'.repeat(99) }))[1]).toBe(
      `there is no terminal "${'x'.repeat(20)}…": there are t1, t2`,
    );
    await see({ action: 'send', id: 't2', keys: ['Ctrl-C'] });
    await see({ action: 'wait', id: 't2' });
    expect((await see({ action: 'read' })).id).toBe('t1');
    const { output, text } = await call({ action: 'list' });
    expect((output as TerminalList).terminals).toMatchObject([
      { id: 't1', command: 'cat', end: null },
      { id: 't2', command: 'cat; exit 4', end: { status: expect.any(String) } },
    ]);
    expect(text).toMatch(/^\[terminal t1 is running: cat\]\n\[terminal t2 has ended, .*: cat; exit 4\]$/);
  });

  it('are 8 at most, and one that has ended makes room', async () => {
    const { see, refused, call } = terminals();
    const started = Array.from({ length: 8 }, () => see({ action: 'start', command: 'cat' }));
    // Those that are just starting count, too.
    const [code, error] = await refused({ action: 'start', command: 'cat' });
    expect(code).toBe('ERR_BASH_TOO_MANY_TASKS');
    expect(error).toMatch(/^8 terminals are running already: stop one of them/);
    const ids = (await Promise.all(started)).map(({ id }) => id).sort();
    expect(ids).toEqual(['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8']);
    await see({ action: 'stop', id: 't3' });
    expect(await see({ action: 'start', command: 'cat' })).toMatchObject({ id: 't9', end: null });
    expect((await refused({ action: 'start', command: 'cat' }))[1]).not.toMatch(/t3|ended/);
    const { terminals: all } = (await call({ action: 'list' })).output as TerminalList;
    expect(all).toHaveLength(9);
  });

  it('that have ended can be read for a while: the last 8', async () => {
    const { see, run, refused } = terminals();
    for (let n = 1; n <= 10; n++) await run({ command: `echo ${n}` });
    expect((await refused({ action: 'read', id: 't2' }))[0]).toBe('ERR_BASH_UNKNOWN_TASK');
    expect((await see({ action: 'read', id: 't3' })).lines).toEqual(['3']);
  });

  it('of a tool all end with it', async () => {
    const { see, refused, tool } = terminals();
    const pids = await Promise.all([1, 2].map(async () => (await see({ action: 'start', command: 'cat' })).pid));
    const late = tool.execute({ action: 'start', command: 'cat' }, { toolCallId: '1' });
    await tool.close();
    await tool.close();
    expect(pids.filter(alive)).toEqual([]);
    const output = await late;
    expect('pid' in output && alive(output.pid)).toBe(false);
    expect((await refused({ action: 'start', command: 'cat' }))[0]).toBe('ERR_BASH_CLOSED');
    expect((await refused({ action: 'read', id: 't1' }))[0]).toBe('ERR_BASH_CLOSED');
    expect((await refused({ action: 'list' }))[0]).toBe('ERR_BASH_CLOSED');
  });
});

describe('an abort', () => {
  it('ends a wait, and not the program', async () => {
    const { see, until } = terminals();
    await see({ action: 'start', command: 'cat' });
    const stop = new AbortController();
    const waiting = see({ action: 'wait', text: 'never', timeout_ms: 60_000 }, { abortSignal: stop.signal });
    stop.abort();
    expect(await waiting).toMatchObject({ reason: 'interrupted', end: null, notes: ['the call was interrupted'] });
    await see({ action: 'send', text: 'still here' });
    await until('still here');
  });

  it('ends a program whose start it interrupts: the model never receives its id', async () => {
    const cwd = folder();
    const { see } = terminals({ cwd });
    const stop = new AbortController();
    const started = join(cwd, 'started');
    const command = `touch '${started}'; while :; do echo; sleep .05; done`;
    const starting = see({ action: 'start', command }, { abortSignal: stop.signal });
    await eventually(() => existsSync(started));
    stop.abort();
    expect(await starting).toMatchObject({ reason: 'interrupted', end: { status: 'aborted' } });
  });

  it('ends one that has not even begun', async () => {
    const { see, call } = terminals();
    const stop = new AbortController();
    const starting = see({ action: 'start', command: 'sleep 300' }, { abortSignal: stop.signal });
    stop.abort();
    expect(await starting).toMatchObject({ reason: 'interrupted', end: { status: 'aborted' } });
    expect((await call({ action: 'list' })).text).toBe('[terminal t1 has ended, it was stopped: sleep 300]');
  });

  it('before a call does nothing', async () => {
    const { refused, call } = terminals();
    const abortSignal = AbortSignal.abort();
    expect((await refused({ action: 'start', command: 'cat' }, { abortSignal }))[0]).toBe('ABORT_ERR');
    expect((await call({ action: 'list' })).output).toEqual({ terminals: [] });
  });
});

it('a process whose terminals were closed ends by itself', async () => {
  const running = host(`
    import { createTerminalTool } from 'agent-bash/ai';
    const tool = createTerminalTool();
    const { pid } = await tool.execute({ action: 'start', command: 'cat' }, { toolCallId: '1' });
    await tool.close();
    console.log('closed', pid);
  `);
  const [, pid] = await running.says(/closed (\d+)/);
  expect(await running.ended()).toEqual({ code: 0, signal: null });
  expect(alive(Number(pid))).toBe(false);
});

it('so does one whose terminals were left open, and what runs in them with it', async () => {
  const running = host(`
    import { createTerminalTool } from 'agent-bash/ai';
    const tool = createTerminalTool();
    const { pid } = await tool.execute({ action: 'start', command: 'cat' }, { toolCallId: '1' });
    console.log('open', pid);
  `);
  const [, pid] = await running.says(/open (\d+)/);
  expect(await running.ended()).toEqual({ code: 0, signal: null });
  await eventually(() => !alive(Number(pid)));
});
