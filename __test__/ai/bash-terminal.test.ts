import { BackgroundRegistry, BashError, BashSession, bash, PtySession } from 'agent-bash';
import { type BashToolOptions, createBashTool } from 'agent-bash/ai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { callTool, runTool } from './fixtures/call.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Options of a host that draws, and a record of its terminals. */
function host(act: (pty: PtySession, command: string) => void = () => {}, size: { cols?: number; rows?: number } = {}) {
  const drawn: string[] = [];
  const onStart = vi.fn((pty: PtySession, { command }: { command: string }) => {
    pty.on('data', (text) => drawn.push(text));
    act(pty, command);
  });
  const options: BashToolOptions = { terminal: { ...size, onStart } };
  return { options, onStart, seen: () => drawn.join('') };
}

describe('a command in a terminal that the host draws', () => {
  it('has a terminal, and the model gets one clean stream', async () => {
    const { options, onStart, seen } = host(undefined, { cols: 97, rows: 31 });
    const command = String.raw`tty -s && stty size; echo $TERM; echo "[$CI$NO_COLOR]"; printf '\e[31merr\e[0m\n' >&2; exit 3`;
    const result = await runTool(options, command);
    expect(result).toMatchObject({
      stdout: '31 97\nxterm-256color\n[]\nerr\n',
      stderr: '',
      exitCode: 3,
      status: 'exited',
      timeoutMs: 30_000,
      notes: [],
    });
    expect(seen()).toBe('31 97\r\nxterm-256color\r\n[]\r\n\x1b[31merr\x1b[0m\r\n');
    expect(onStart.mock.calls).toEqual([[expect.any(PtySession), { command }]]);
    expect(result.text).toMatch(/^\[command failed: exit code 3\]\n\n31 97\n/);
  });

  it('receives the keys that the host types, and its changes of size', async () => {
    const { options } = host((pty) => {
      pty.on('data', (text) => {
        if (text.includes('name?')) {
          pty.resize(50, 5);
          void pty.write('ann\r');
        }
      });
    });
    const { stdout } = await runTool(options, 'read -rp "name? " name; echo "hello $name"; stty size');
    expect(stdout).toBe('name? ann\nhello ann\n5 50\n');
  });

  linuxTest('waits for somebody, and the host is told', async () => {
    const terminals: PtySession[] = [];
    const { options } = host((pty) => terminals.push(pty));
    const onPrompt = vi.fn(async () => terminals[0]?.write('y\r'));
    const { stdout } = await runTool({ ...options, onPrompt }, 'read -rp "Go on? [y/N] " answer; echo "so: $answer"');
    expect(stdout).toBe('Go on? [y/N] y\nso: y\n');
    expect(onPrompt.mock.calls).toEqual([[expect.objectContaining({ text: 'Go on? [y/N] ' })]]);
  });

  it('is ended by the host, as by an abort', async () => {
    const { options } = host((pty) => pty.on('data', (text) => text.includes('on') && void pty.kill()));
    expect(await runTool(options, 'echo on; sleep 300')).toMatchObject({
      status: 'aborted',
      exitCode: 130,
      stdout: 'on\n',
      text: expect.stringMatching(/^\[command interrupted\]/),
    });
  });

  it('is ended by an abort of the call', async () => {
    const stop = new AbortController();
    const { options } = host((pty) => pty.on('data', (text) => text.includes('on') && stop.abort()));
    const ended = await runTool(options, 'echo on; sleep 300', { abortSignal: stop.signal });
    expect(ended).toMatchObject({ status: 'aborted', exitCode: 130, stdout: 'on\n' });
  });

  it('is not started for a call that is over', async () => {
    const { options, onStart } = host();
    const ended = await runTool(options, 'true', { abortSignal: AbortSignal.abort() });
    expect(ended).toMatchObject({ status: 'aborted', pid: 0 });
    expect(onStart).not.toHaveBeenCalled();
  });

  it('keeps the limits of the tool', async () => {
    const { options } = host();
    expect(await runTool(options, { command: 'true', mode: 'slow' })).toMatchObject({ timeoutMs: 900_000 });
    expect(await runTool({ ...options, timeoutMs: 5_000 }, 'true')).toMatchObject({ timeoutMs: 5_000 });
    expect(await runTool(options, { command: 'echo on; sleep 300', timeout_ms: 1_000 })).toMatchObject({
      status: 'timed-out',
      exitCode: 124,
      stdout: 'on\n',
      timeoutMs: 1_000,
      notes: [],
    });
  });

  it('does not move to the background, and says so at its limit', async () => {
    const registry = new BackgroundRegistry();
    const { options } = host();
    const run = { ...options, registry };
    expect(await runTool(run, 'true')).toMatchObject({ timeoutMs: 30_000, notes: [] });
    expect(await runTool({ ...run, timeoutMs: 2_000 }, 'echo on; sleep 300')).toMatchObject({
      status: 'timed-out',
      stdout: 'on\n',
      notes: [expect.stringMatching(/cannot go on in the background: it was ended at its limit/)],
    });
    expect(registry.list()).toEqual([]);
    await registry.close();
  });

  it('supports head, tail and snapshots; a trailing pipe stays', async () => {
    const { options } = host();
    expect((await runTool(options, { command: 'seq 100', tail: 1 })).stdout).toMatch(
      /^100\n\[stdout: Showing last 1 of/,
    );
    expect((await runTool(options, { command: 'yes', head: 1 })).stdout).toMatch(/^y\n/);
    expect(await runTool(options, 'seq 100 | tail -n 1')).toMatchObject({
      stdout: '100\n',
      truncation: { stdout: null },
    });
    const slow = { ...options, updateIntervalMs: 10 };
    const { updates } = await runTool(slow, 'echo a; sleep .5; echo b');
    // An update may come before the first output does.
    expect(updates).toContainEqual(expect.objectContaining({ status: 'running', stdout: 'a\n' }));
  });

  it('is judged as any other', async () => {
    const { options, onStart } = host();
    expect((await callTool(options, 'git push --force')).output).toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      findings: [{ ruleId: 'git-force-push' }],
    });
    expect((await callTool(options, { command: 'true', cwd: '/none' })).output).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
    });
    expect(onStart).not.toHaveBeenCalled();
  });

  it('goes on when onStart fails, with a note', async () => {
    const thrown = host(() => {
      throw new Error('no room');
    });
    expect(await runTool(thrown.options, 'echo on')).toMatchObject({
      stdout: 'on\n',
      notes: ['onStart failed: no room'],
    });
    const onStart = async () => Promise.reject(new Error('no time'));
    expect(await runTool({ terminal: { onStart } }, 'sleep .2; echo on')).toMatchObject({
      stdout: 'on\n',
      notes: ['onStart failed: no time'],
    });
  });

  it('needs no onStart, and several run side by side', async () => {
    const outputs = await Promise.all(['a', 'b', 'c'].map((word) => runTool({ terminal: {} }, `echo ${word}; tty`)));
    expect(outputs.map(({ stdout }) => stdout[0])).toEqual(['a', 'b', 'c']);
    expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(3);
  });

  it('may be for one call only', async () => {
    const { options, onStart } = host();
    const perCall = ({ toolCallId }: { toolCallId: string }) => (toolCallId === 'shown' ? options : undefined);
    expect((await runTool({ perCall }, 'tty -s', { toolCallId: 'other' })).exitCode).not.toBe(0);
    expect((await runTool({ perCall }, 'tty -s', { toolCallId: 'shown' })).exitCode).toBe(0);
    expect(onStart).toHaveBeenCalledOnce();
  });
});

describe('a command runs without a terminal', () => {
  const PLAIN = { stdout: 'out\n', stderr: 'err\n', exitCode: 1, notes: [] };
  const command = 'echo out; echo err >&2; tty -s';

  it.each([
    ['with stdin', (): BashToolOptions => ({ stdin: 'x' })],
    ['with a run of its own', (): BashToolOptions => ({ run: bash })],
    ['in a session', (): BashToolOptions => ({ session: new BashSession() })],
  ])('%s', async (_, more) => {
    const { options, onStart } = host();
    expect(await runTool({ ...options, ...more() }, command)).toMatchObject(PLAIN);
    expect(onStart).not.toHaveBeenCalled();
  });

  it('in the background', async () => {
    const registry = new BackgroundRegistry();
    const { options, onStart } = host();
    const started = await runTool({ ...options, registry }, { command: 'tty -s', mode: 'background' });
    expect(started.status).toBe('backgrounded');
    expect((await registry.wait(started.pid)).task.exitCode).toBe(1);
    expect(onStart).not.toHaveBeenCalled();
    await registry.close();
  });

  it('where AGENT_BASH_NO_PTY=1 is set, and nothing is said of it', async () => {
    vi.stubEnv('AGENT_BASH_NO_PTY', '1');
    const { options, onStart } = host();
    expect(await runTool(options, command)).toMatchObject(PLAIN);
    expect(onStart).not.toHaveBeenCalled();
    expect(createBashTool(options).description).toMatch('There is no terminal');
  });

  it('where none can be had, with a note that says why, and with all that it would have had', async () => {
    const refusal = new BashError('ERR_BASH_UNSUPPORTED', 'no pseudo-terminal: ENOSPC');
    vi.spyOn(PtySession.prototype, 'start').mockRejectedValue(refusal);
    const { options, onStart } = host();
    const notes = ['the command ran without a terminal: no pseudo-terminal: ENOSPC'];
    expect(await runTool(options, command)).toMatchObject({ ...PLAIN, notes });
    const registry = new BackgroundRegistry();
    const moved = await runTool({ ...options, registry, timeoutMs: 2_000 }, 'sleep 300');
    expect(moved).toMatchObject({ status: 'backgrounded', notes });
    expect(onStart).not.toHaveBeenCalled();
    await registry.close();
  });
});

describe('a tool with a terminal', () => {
  it('says so to the model', () => {
    const { description } = createBashTool({ terminal: {}, registry: undefined });
    expect(description).toMatch(
      'The command runs in a terminal that a person sees and may type into; you cannot type.',
    );
    expect(description).not.toMatch('There is no terminal');
  });

  it.each([
    [{ cols: 0 }, /cols: 0 is not/],
    [{ rows: 70_000 }, /rows: 70000 is not/],
    [true, /terminal: it is not an object/],
    [null, /terminal: it is not an object/],
    [{ onStart: 'draw' }, /^terminal\.onStart: "draw" is not a function$/],
  ])('refuses %j', async (terminal, message) => {
    const perCall = () => ({ terminal }) as BashToolOptions;
    expect((await callTool({ perCall }, 'true')).output).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      error: expect.stringMatching(message),
    });
  });
});
