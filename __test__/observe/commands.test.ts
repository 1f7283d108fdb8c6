import { createRequire } from 'node:module';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ADDON, folder, host, hostResult, packageRoot, reaching, rejection, settles } from '../support/index.ts';
import { listen } from './support.ts';

test('a command reports its start, its output and its end, in this order and before its caller knows', async () => {
  const { told, names } = listen();
  const cwd = folder();
  const command = 'echo out; echo err >&2; exit 3';
  const result = await bash(command, { cwd });
  expect(names()[0]).toBe('start');
  expect(names().at(-1)).toBe('exit');
  const shared = { id: told[0]?.id, kind: 'command', pid: result.pid, target: null };
  expect(told[0]).toEqual({ name: 'start', ...shared, command, args: [], cwd });
  expect(told.slice(1, -1)).toEqual(
    expect.arrayContaining([
      { name: 'output', ...shared, stream: 'stdout', text: 'out\n' },
      { name: 'output', ...shared, stream: 'stderr', text: 'err\n' },
    ]),
  );
  const { status, exitCode, signal, durationMs, timeoutMs, usage } = result;
  expect(told.at(-1)).toEqual({
    ...{ name: 'exit', ...shared, status, exitCode, signal, durationMs, timeoutMs, usage },
    ...{ limit: null, waitedFor: null, taskId: null, survivors: [], confinement: result.confinement, notes: [] },
    ...{ runId: result.runId, receipt: null, undo: null, evidence: null, tokens: null },
  });
});

test('an exit says which limit it reached, and what the command waited for', async () => {
  const { of } = listen('exit');
  const asks = 'printf "Password: "; sleep 300';
  const silent = await bash(asks, { idleTimeoutMs: 300 });
  const late = await bash('while :; do echo busy; sleep .02; done', { timeoutMs: 300, idleTimeoutMs: 60_000 });
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  const moved = await bash(asks, { idleTimeoutMs: 300, registry });
  expect([silent, late, moved].map(({ status }) => status)).toEqual(['timed-out', 'timed-out', 'backgrounded']);
  const waitedFor = 'perhaps waiting for an answer; its last line is «Password: »';
  expect(silent.notes).toContain(waitedFor);
  const found = of('exit').map(({ limit, waitedFor }) => ({ limit, waitedFor }));
  expect(found.slice(0, 3)).toEqual([
    { limit: 'silence', waitedFor },
    { limit: 'time', waitedFor: null },
    { limit: 'silence', waitedFor },
  ]);
});

// Every note that names what a command waits for begins in one of the ways that are known.
test.runIf(process.platform === 'linux').each([
  ['mkfifo p; cat p', 'waiting for input that nobody gives: '],
  ['mkfifo p; echo >p', 'waiting for a reader: '],
  ['kill -STOP $BASHPID', 'stopped: '],
])('an exit says what the command waited for: %s', async (command, opening) => {
  const { of } = listen('exit');
  const { notes } = await bash(command, { cwd: folder(), timeoutMs: 300 });
  const note = notes.find((one) => one.startsWith(opening));
  expect(note).toBeDefined();
  expect(of('exit')).toEqual([expect.objectContaining({ limit: 'time', waitedFor: note })]);
});

test('an exit says how many tokens the view saves', async () => {
  const { told } = listen('exit');
  const { view } = await bash('yes "waiting for the server" | head -50', { reduce: 'lossless' });
  expect(told.at(-1)?.tokens).toEqual(view?.tokens);
  expect(view?.tokens.after).toBeLessThan(view?.tokens.before ?? 0);
});

test('values are plain data, and the result stays its caller’s own', async () => {
  const { told } = listen();
  const result = await bash('sleep 300 & echo hi');
  for (const { pid } of result.survivors) process.kill(pid);
  expect(JSON.parse(JSON.stringify(told))).toEqual(told);
  expect(structuredClone(told)).toEqual(told);
  result.survivors.length = 0;
  expect(told.at(-1)?.survivors).toHaveLength(1);
});

test('the environment and standard input are never told', async () => {
  const { told } = listen();
  await bash('true', { env: { API_KEY: 'sesame' }, stdin: 'sesame' });
  await bash('git push --force', { env: { API_KEY: 'sesame' } }).catch(() => {});
  expect(told).not.toEqual([]);
  expect(JSON.stringify(told)).not.toContain('sesame');
});

test('an abort is reported when it happens, a time limit when it has ended the command', async () => {
  const { names, hears, of } = listen();
  const stop = new AbortController();
  const run = bash('trap "" TERM; echo ready; while :; do sleep .05; done', { signal: stop.signal, graceMs: 500 });
  const { id, pid } = await hears('output');
  stop.abort();
  const shared = { id, kind: 'command', pid, target: null };
  expect(of('kill')).toEqual([{ name: 'kill', ...shared, reason: 'abort', signal: null }]);
  expect(of('exit')).toEqual([]);
  await run;
  expect(of('exit')).toMatchObject([{ id, status: 'aborted', exitCode: 130, signal: 'SIGKILL' }]);
  await bash('sleep 300', { timeoutMs: 50 });
  expect(names().slice(4)).toEqual(['start', 'kill', 'exit']);
  expect(of('kill')[1]).toMatchObject({ reason: 'timeout', signal: null });
  expect(of('exit')[1]).toMatchObject({ status: 'timed-out', timeoutMs: 50 });
});

test('a command that never started is not reported, except for a refusal', async () => {
  const { told } = listen();
  await bash('true', { signal: AbortSignal.abort() });
  await rejection(() => bash('true', { cwd: '/no/such/folder' }));
  await rejection(() => bash(5 as never));
  expect(told).toEqual([]);
  const cwd = folder();
  const error = await rejection(() => bash('git push --force', { cwd }));
  expect(told).toEqual([
    expect.objectContaining({
      name: 'block',
      kind: 'command',
      command: 'git push --force',
      cwd,
      message: error.message,
    }),
  ]);
  expect(told[0]?.findings).toMatchObject([{ ruleId: 'git-force-push' }]);
});

test('ids tell parallel commands apart', async () => {
  const { of } = listen();
  const results = await Promise.all(Array.from({ length: 40 }, (_, index) => bash(`echo ${index}`)));
  expect(new Set(of('start').map(({ id }) => id)).size).toBe(40);
  for (const { pid, stdout } of results) {
    const id = of('start').find((one) => one.pid === pid)?.id;
    expect(of('output').filter((one) => one.id === id)).toMatchObject([{ pid, text: stdout }]);
    expect(of('exit').filter((one) => one.id === id)).toHaveLength(1);
  }
});

test('a command of a session: the directory that it really starts in, and the end of the session', async () => {
  const { of, hears } = listen();
  const [first, second] = [folder(), folder()];
  const session = new BashSession({ cwd: first, ...reaching(second) });
  onTestFinished(() => session.close());
  await Promise.all([session.run(`cd ${second}`), session.run('pwd'), session.run('true', { cwd: '/' })]);
  expect(of('start').map(({ kind, cwd }) => [kind, cwd])).toEqual([
    ['session', first],
    ['session', second],
    ['session', '/'],
  ]);
  expect(of('output')).toMatchObject([{ text: `${second}\n` }]);
  const last = session.run('sleep 300');
  const { id } = await hears('start', ({ command }) => command === 'sleep 300');
  await session.close();
  expect((await last).status).toBe('aborted');
  expect(of('kill')).toMatchObject([{ id, kind: 'session', reason: 'close' }]);
  expect(of('exit')).toHaveLength(4);
});

test('a terminal: cleaned output, single signals, its end', async () => {
  const { of, hears } = listen();
  const terminal = new PtySession();
  onTestFinished(() => terminal.kill());
  const { pid } = await terminal.start(
    String.raw`trap 'echo caught' USR1; printf '\e[31mred\e[0m\n'; while :; do sleep .05; done`,
  );
  expect(of('start')).toMatchObject([{ kind: 'terminal', pid }]);
  await hears('output', ({ text }) => /^red\n/.test(String(text)));
  await terminal.kill('SIGUSR1');
  await hears('output', ({ text }) => /caught\n/.test(String(text)));
  await terminal.kill();
  expect(of('kill')).toMatchObject([
    { kind: 'terminal', pid, reason: 'kill', signal: 'SIGUSR1' },
    { kind: 'terminal', pid, reason: 'kill', signal: null },
  ]);
  expect(of('exit')).toMatchObject([{ kind: 'terminal', pid, status: 'aborted' }]);
});

test('those who only listen to the channels draw no terminal: its program is answered at once', async () => {
  const { NativeTerminal } = createRequire(packageRoot)(ADDON);
  const listened = vi.spyOn(NativeTerminal.prototype, 'setListening');
  onTestFinished(() => listened.mockRestore());
  listen();
  const terminal = new PtySession();
  onTestFinished(() => terminal.kill());
  await terminal.start(String.raw`printf '\e[6n'; IFS= read -rsdR place; echo "got $place" | tr -d "\\033"`);
  expect((await settles(terminal.result())).stdout).toContain('got [');
  expect(listened).not.toHaveBeenCalled();
});

test('the caller’s own listener receives the same', async () => {
  const { of } = listen('output');
  const heard: string[] = [];
  await bash('seq 3', { onOutput: ({ text }) => void heard.push(text) });
  expect(of('output').map(({ text }) => text)).toEqual(heard);
});

test('a channel alone is enough', async () => {
  const { names } = listen('exit');
  await bash('echo hi');
  expect(names()).toEqual(['exit']);
});

test('without subscribers nothing is asked of the core, and no text comes over', async () => {
  const found = await hostResult<Record<'without' | 'with', { options: object[]; heard: number; watched: number }>>(`
    import { createRequire } from 'node:module';
    import { subscribe, unsubscribe } from 'node:diagnostics_channel';
    import { BackgroundRegistry, BashSession } from 'agent-bash';
    const { Bridge, NativeSession, NativeRegistry } = createRequire(import.meta.url)(${JSON.stringify(ADDON)});
    let seen;
    const spy = (of, name, see) => {
      const real = of.prototype[name];
      of.prototype[name] = function (...given) { see(given); return real.apply(this, given); };
    };
    const option = ([{ options }]) => {
      const { confine, ...asked } = JSON.parse(options);
      seen.options.push(Object.keys(asked).length > 0 ? asked : null);
    };
    spy(Bridge, 'start', option);
    spy(NativeSession, 'run', option);
    spy(NativeRegistry, 'start', option);
    spy(Bridge, 'outputTaken', () => seen.heard++);
    spy(NativeRegistry, 'watch', ([exit, output]) => exit || output ? seen.watched++ : null);
    const look = async () => {
      seen = { options: [], heard: 0, watched: 0 };
      const session = new BashSession();
      const registry = new BackgroundRegistry();
      await bash('seq 1000');
      await session.run('seq 1000');
      await registry.start('seq 1000');
      await registry.close();
      await session.close();
      return seen;
    };
    const without = await look();
    const listener = () => {};
    subscribe('agent-bash:output', listener);
    const listened = await look();
    unsubscribe('agent-bash:output', listener);
    const after = await look();
    if (JSON.stringify(after) !== JSON.stringify(without)) throw new Error(JSON.stringify(after));
    console.log(JSON.stringify({ without, with: listened }));
  `);
  expect(found.without).toEqual({ options: [null, null, null], heard: 0, watched: 0 });
  expect(found.with.options).toEqual([{ starts: true, live: true }, { starts: true, live: true }, null]);
  expect(found.with.heard).toBe(2);
  expect(found.with.watched).toBe(1);
});

test('a subscriber that throws disturbs no run: Node reports it as an uncaught exception', async () => {
  const running = host(`
    import { subscribe } from 'node:diagnostics_channel';
    const failures = [];
    process.on('uncaughtException', (error) => failures.push(error.message));
    for (const name of ['start', 'output', 'kill', 'exit', 'block']) {
      subscribe('agent-bash:' + name, () => { throw new Error(name); });
    }
    const { stdout, status } = await bash('echo hi; sleep 300', { timeoutMs: 2_000 });
    const blocked = await bash('git push --force').catch(({ code }) => code);
    await new Promise(setImmediate);
    console.log(JSON.stringify({ stdout, status, blocked, failures }));
  `);
  expect((await running.ended()).code).toBe(0);
  expect(JSON.parse(running.stdout())).toEqual({
    stdout: 'hi\n',
    status: 'timed-out',
    blocked: 'ERR_BASH_BLOCKED',
    failures: ['start', 'output', 'kill', 'exit', 'block'],
  });
});
