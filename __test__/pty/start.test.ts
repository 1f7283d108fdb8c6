import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { alive, folder, hostEnv, rejection } from '../support/index.ts';
import { ran, running, terminal } from './support.ts';

describe('a command in a terminal', () => {
  test('has a controlling terminal of the size that was asked for, on all its streams', async () => {
    const { stdout } = await ran(
      'tty </dev/tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size; ps -o tpgid= -p $$ | tr -d " "; echo $$',
      {
        cols: 100,
        rows: 30,
      },
    );
    const [tty, size, foreground, shell] = stdout.split('\n');
    expect(tty).toMatch(/^\/dev\/(pts\/|tty)/);
    expect(size).toBe('30 100');
    expect(foreground).toBe(shell);
  });

  test('is 80 × 24 by itself', async () => {
    expect((await ran('stty size')).stdout).toBe('24 80\n');
  });

  test('gives the result that `bash` gives: one stream, lines ended by a line feed', async () => {
    const session = terminal();
    const { pid } = await session.start('echo out; echo err >&2; printf last; exit 3');
    const result = await session.result();
    expect(result).toMatchObject({
      stdout: 'out\nerr\nlast',
      stderr: '',
      exitCode: 3,
      status: 'exited',
      signal: null,
      pid,
      timeoutMs: null,
      truncation: { stdout: null, stderr: null },
      background: null,
      survivors: [],
      notes: [],
    });
    expect(result.durationMs).toBeGreaterThan(0);
    expect(structuredClone(result)).toStrictEqual(result);
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
  });

  test.each([
    [false, 'one\ntwo\r\nthree\n'],
    [{ ansi: false }, 'one\ntwo\nthree\n'],
    [{ progress: 'keep' }, 'one\ntwo\nthree\n'],
  ] as const)('ends lines so with sanitize %j, too', async (sanitize, text) => {
    const { stdout } = await ran('printf "one\\ntwo\\r\\nthree\\n"', { sanitize });
    expect(stdout).toBe(text);
  });

  test('is sanitized and cut as that of any command', async () => {
    const result = await ran(
      'for i in 1 2 3; do printf "\\r%d%%" $i; done; echo; printf "\\e[31mred\\e[0m\\n"; seq 5000',
    );
    expect(result.truncation.stdout).toMatchObject({ keep: 'tail', totalLines: 5002, outputLines: 2000 });
    expect(result.stdout).toMatch(/^3001\n/);
    const short = await ran('for i in 1 2 3; do printf "\\r%d%%" $i; done; echo; printf "\\e[31mred\\e[0m\\n"');
    expect(short.stdout).toBe('3%\nred\n');
  });

  test('has options as `bash` does', async () => {
    const cwd = folder();
    const result = await ran('echo "$1 $X"; pwd', { cwd, args: ['one'], env: { X: 'two' } });
    expect(result.stdout).toBe(`one two\n${cwd}\n`);
    const chunks: string[] = [];
    await ran('echo a; echo b', { onOutput: ({ text }) => void chunks.push(text) });
    expect(chunks.join('')).toBe('a\nb\n');
    expect((await ran('echo a; echo b', { prefix: 'true;' })).stdout).toBe('a\nb\n');
  });

  test('of any length arrives', async () => {
    const word = 'x'.repeat(200_000);
    expect((await ran(`: ${word}; echo done`)).stdout).toBe('done\n');
  });

  test('is judged as that of any command', async () => {
    const cwd = folder();
    const error = await rejection(() => terminal({ cwd }).start('touch ran; git push --force'));
    expect(error.code).toBe('ERR_BASH_BLOCKED');
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });
});

describe('invalid options', () => {
  test.each([
    [{ cols: 0 }, 'cols'],
    [{ rows: 0 }, 'rows'],
    [{ cols: 65_536 }, 'cols'],
    [{ rows: 1.5 }, 'rows'],
    [{ cols: '80' as never }, 'cols'],
    [{ stdin: 'text' }, 'stdin'],
    [{ mode: 'background' as const }, 'mode'],
    [{ onTimeout: 'background' as const }, 'onTimeout'],
    [{ timeoutMs: 'x' as never }, 'timeoutMs'],
    [null as never, 'options'],
  ])('%j is refused', (options, name) => {
    expect(() => new PtySession(options)).toThrow(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(name) }),
    );
  });

  test('a value out of range is reported at the start', async () => {
    expect((await rejection(() => terminal({ timeoutMs: 0 }).start('true'))).code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('nothing works before the start', async () => {
    const session = terminal();
    for (const call of [() => session.write('x'), () => session.wait(), () => session.result()]) {
      expect((await rejection(call)).code).toBe('ERR_BASH_INVALID_ARG');
    }
    await session.kill();
    await session.kill('SIGTERM');
    expect(session.screen()).toMatchObject({ cursor: { row: 0, col: 0 }, title: '', alternate: false });
    expect(session.screen().lines).toEqual(Array(24).fill(''));
  });

  test('one terminal runs one command', async () => {
    const session = terminal();
    const first = session.start('echo one');
    expect((await rejection(() => session.start('echo two'))).code).toBe('ERR_BASH_INVALID_ARG');
    await first;
    expect((await session.result()).stdout).toBe('one\n');
    expect((await rejection(() => session.start('echo two'))).code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('after a start that failed it can be started', async () => {
    const session = terminal({ cwd: folder() });
    expect((await rejection(() => session.start('git push --force'))).code).toBe('ERR_BASH_BLOCKED');
    expect((await rejection(() => session.start('a\0b'))).code).toBe('ERR_BASH_INVALID_ARG');
    await session.start('echo now');
    expect((await session.result()).stdout).toBe('now\n');
  });

  test.each([
    [{ cwd: '/nowhere/at/all' }, 'ERR_BASH_CWD_NOT_FOUND'],
    [{ shell: '/nowhere/bash' }, 'ERR_BASH_SHELL_NOT_FOUND'],
  ])('%j is refused at the start, and everything after it likewise', async (options, code) => {
    const session = terminal(options);
    expect((await rejection(() => session.start('true'))).code).toBe(code);
    expect((await rejection(() => session.result())).code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('wrong types reject, and nothing throws', async () => {
    const session = await running('cat');
    for (const data of [5, null, undefined, {}, ['x']]) {
      expect((await rejection(() => session.write(data as never))).code).toBe('ERR_BASH_INVALID_ARG');
    }
    for (const options of [{ idleMs: 0 }, { timeoutMs: -1 }, { pattern: 5 }, { pattern: '(' }, null]) {
      expect((await rejection(() => session.wait(options as never))).code).toBe('ERR_BASH_INVALID_ARG');
    }
    expect((await rejection(() => session.kill('SIGNOTHING' as 'SIGINT'))).code).toBe('ERR_BASH_INVALID_ARG');
    expect(() => session.resize(0, 1)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
    expect(() => session.on('nothing' as 'data', () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
    );
    expect(() => session.on('data', 'x' as never)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
    await session.write('\x04');
    expect((await session.result()).exitCode).toBe(0);
  });

  test('AGENT_BASH_NO_PTY=1 turns terminals off', async () => {
    hostEnv({ AGENT_BASH_NO_PTY: '1' });
    expect((await rejection(() => terminal().start('true'))).code).toBe('ERR_BASH_UNSUPPORTED');
  });

  test('a signal that was aborted before starts nothing', async () => {
    const cwd = folder();
    const session = terminal({ cwd, signal: AbortSignal.abort() });
    expect(await session.start('touch ran')).toEqual({ pid: 0 });
    expect(await session.result()).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0 });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test('an abort meanwhile ends it', async () => {
    const controller = new AbortController();
    const session = terminal({ signal: controller.signal });
    const { pid } = await session.start('sleep 100');
    expect(alive(pid)).toBe(true);
    controller.abort();
    expect(await session.result()).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(alive(pid)).toBe(false);
  });
});
