import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, linuxTest, packageRoot, rejection, until } from '../support/index.ts';
import { Ledger } from './support.ts';

describe('an entry of the ledger', () => {
  test('has every field of the contract, as the result has them', async () => {
    const ledger = new Ledger();
    const actor = { agent: 'a', session: 's', toolCallId: 'c', user: 'u' };
    const cwd = folder();
    const before = Date.now();
    const result = await ledger.run('echo hi; exit 3', { actor, cwd });
    const entry = await ledger.of(result);
    expect(entry).toEqual({
      runId: result.runId,
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      state: 'exited',
      command: 'echo hi; exit 3',
      redacted: false,
      cwd,
      host: { pid: process.pid, program: expect.stringMatching(/./) },
      actor,
      verdict: 'allow',
      rules: [],
      decidedBy: null,
      confinement: null,
      exitCode: 3,
      signal: null,
      durationMs: expect.closeTo(result.durationMs, 2),
      usage: { userMs: expect.any(Number), systemMs: expect.any(Number), maxRssBytes: expect.any(Number) },
      silence: null,
      receipt: null,
      evidence: null,
      reused: null,
      outputPath: null,
      taskId: null,
      target: null,
      draft: null,
      secrets: [],
    });
    expect(entry.startedAt).toBeGreaterThanOrEqual(before - 1);
    expect(entry.endedAt ?? 0).toBeGreaterThanOrEqual(entry.startedAt);
    expect(entry.endedAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('has the verdict of its evidence', async () => {
    const ledger = new Ledger();
    const result = await ledger.run('exit 3', { evidence: 'status' });
    await until(async () => (await ledger.of(result)).evidence !== null, 'the verdict');
    expect((await ledger.of(result)).evidence).toBe(result.evidence?.verdict);
    expect(result.evidence?.verdict).toBe('failed');
  });

  test('has the verdict of a task, from its end on', async () => {
    const ledger = new Ledger();
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const options = { ledger: true, evidence: 'status', registry } as const;
    const waits = 'read -r line < go; exit 3';
    const start = async (command: string, how: object) => {
      const cwd = folder();
      execFileSync('mkfifo', [join(cwd, 'go')]);
      const result = await bash(command, { ...options, cwd, ...how });
      if (!result.background) throw new Error('it was to be a task');
      expect((await ledger.of(result)).evidence).toBeNull();
      writeFileSync(join(cwd, 'go'), '\n');
      return { result, check: await registry.wait(result.background) };
    };
    for (const how of [{ mode: 'background' }, { timeoutMs: 200, onTimeout: 'background' }]) {
      const { result, check } = await start(waits, how);
      expect(check.evidence?.verdict).toBe('failed');
      await until(async () => (await ledger.of(result)).evidence === 'failed', 'the verdict');
    }
    const { result } = await start('read -r line < go; echo 1 > made', { mode: 'background', receipt: 'watch' });
    const both = async () => {
      const { evidence, receipt } = await ledger.of(result);
      return evidence !== null && receipt !== null;
    };
    await until(both, 'the verdict and the changes');
    const { background } = await bash('exit 4', { ledger: true, registry, mode: 'background' });
    await registry.wait(background ?? '');
    expect((await ledger.last()).evidence).toBeNull();
  });

  test.each(['process.exit()', ''])('has the verdict though the host ends at once after the run: %j', async (end) => {
    const ledger = new Ledger();
    const code = `const { bash, BackgroundRegistry } = require('agent-bash');
      const options = { ledger: true, evidence: 'status' };
      (async () => {
        const registry = new BackgroundRegistry();
        await registry.wait(await registry.start('exit 3', options));
        await bash('exit 3', options);
        ${end}
      })();`;
    execFileSync(process.execPath, ['-e', code], { cwd: packageRoot, env: { ...process.env, ...ledger.env } });
    const entries = await ledger.read();
    expect(entries.map(({ evidence }) => evidence)).toEqual(['failed', 'failed']);
  });

  test.each([
    ['kill -TERM $$', {}, { state: 'signaled', exitCode: 143, signal: 'SIGTERM' }],
    ['sleep 30', { timeoutMs: 200 }, { state: 'timed-out', exitCode: 124, signal: 'SIGTERM' }],
    ['true', {}, { state: 'exited', exitCode: 0, signal: null }],
    ['exit 255', { warm: false }, { state: 'exited', exitCode: 255, signal: null }],
  ] as const)('%s ends as its result says: %o', async (command, options, wanted) => {
    const ledger = new Ledger();
    const result = await ledger.run(command, { safety: 'off', ...options });
    expect(await ledger.of(result)).toMatchObject(wanted);
    expect(result).toMatchObject({ status: wanted.state, exitCode: wanted.exitCode, signal: wanted.signal });
  });

  test('is there while the command runs, without an end', async () => {
    const ledger = new Ledger();
    const ending = new AbortController();
    const running = ledger.run('sleep 60', { signal: ending.signal });
    const entry = await until(async () => (await ledger.read())[0], 'an entry');
    expect(entry).toMatchObject({ state: 'running', endedAt: null, exitCode: null, signal: null });
    expect(entry).toMatchObject({ durationMs: null, usage: null });
    ending.abort();
    const result = await running;
    expect(await ledger.of(result)).toMatchObject({ state: 'aborted', exitCode: 130 });
    expect(await ledger.read()).toHaveLength(1);
  });

  test('of a refused command says so, with verdict and rules', async () => {
    const ledger = new Ledger();
    const { code } = await rejection(() => ledger.run('rm -rf /', { actor: { agent: 'a' } }));
    expect(code).toBe('ERR_BASH_BLOCKED');
    expect(await ledger.last()).toMatchObject({
      state: 'refused',
      command: 'rm -rf /',
      actor: { agent: 'a' },
      verdict: 'deny',
      rules: ['rm-critical'],
      exitCode: null,
      signal: null,
      durationMs: null,
    });
  });

  test('has the verdict of a command that is asked about, and may run', async () => {
    const ledger = new Ledger();
    const result = await ledger.run('git clean -nd || true', { cwd: folder() });
    const asked = await ledger.run('git clean -fd || true', { cwd: folder() });
    expect(await ledger.of(result)).toMatchObject({ verdict: 'allow', rules: [] });
    expect(await ledger.of(asked)).toMatchObject({ verdict: 'ask', rules: ['git-clean'], state: 'exited' });
    const { code } = await rejection(() => ledger.run('git clean -fd', { safety: { onAsk: 'deny' } }));
    expect(code).toBe('ERR_BASH_BLOCKED');
    expect(await ledger.last()).toMatchObject({ verdict: 'ask', state: 'refused' });
  });

  test('of an aborted command says so', async () => {
    const ledger = new Ledger();
    const result = await ledger.run('sleep 30', { signal: AbortSignal.timeout(200) });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGTERM' });
    expect(await ledger.of(result)).toMatchObject({ state: 'aborted', exitCode: 130, signal: 'SIGTERM' });
  });

  test('of a command whose survivors were aborted says so, too', async () => {
    const ledger = new Ledger();
    const ending = new AbortController();
    const result = await ledger.run('sleep 60 & echo out', {
      signal: ending.signal,
      onOutput: () => {
        setTimeout(() => ending.abort(), 5);
      },
    });
    const { state, exitCode } = await ledger.of(result);
    expect([state, exitCode]).toEqual([result.status, result.exitCode]);
  });

  test('is missing if nothing was started', async () => {
    const ledger = new Ledger();
    await rejection(() => ledger.run('true', { cwd: '/no/such/directory' }));
    await rejection(() => ledger.run('true', { shell: '/no/such/shell' }));
    await ledger.run('true', { signal: AbortSignal.abort() });
    expect(await ledger.read()).toEqual([]);
  });

  test('is missing without the option', async () => {
    const ledger = new Ledger();
    await bash('true');
    await bash('true', { ledger: false });
    expect(ledger.files()).toEqual([]);
  });

  test('of a command in a session and of one in a terminal is there with the result', async () => {
    const ledger = new Ledger();
    const session = new BashSession({ ledger: true, actor: { agent: 'a' } });
    onTestFinished(() => session.close());
    for (const command of ['x=1', 'cd /; exit 4', 'echo $x']) {
      const result = await session.run(command);
      expect(await ledger.of(result)).toMatchObject({ command, exitCode: result.exitCode, state: 'exited' });
    }
    expect(await ledger.last()).toMatchObject({ cwd: '/', actor: { agent: 'a' } });
    const pty = new PtySession({ ledger: true });
    await pty.start('exit 5');
    expect(await ledger.of(await pty.result())).toMatchObject({ state: 'exited', exitCode: 5 });
  });

  linuxTest('of a confined command has its profile', async () => {
    const ledger = new Ledger();
    const result = await ledger.run('true', { confine: 'workspace', cwd: folder() });
    expect(await ledger.of(result)).toMatchObject({ confinement: 'workspace', state: 'exited' });
  });

  linuxTest('has the numbers of its receipt, and is found by the paths in it', async () => {
    const ledger = new Ledger();
    const cwd = folder();
    const result = await ledger.run('mkdir sub; echo a > sub/new', { cwd, receipt: 'exact' });
    const { receipt } = await ledger.of(result);
    expect(receipt).toEqual({ created: 2, modified: 0, deleted: 0, renamed: 0, state: result.receipt?.state });
    const ids = async (changed: string) => (await ledger.read({ changed })).map(({ runId }) => runId);
    expect(await ids(cwd)).toEqual([result.runId]);
    expect(await ids(`${cwd}/sub/new`)).toEqual([result.runId]);
    expect(await ids(`${cwd}/su`)).toEqual([]);
  });

  test('has the silence that was its limit, and what the command waited for, without output and arguments', async () => {
    const ledger = new Ledger();
    const asks = await ledger.run('printf "Overwrite? [y/N] "; sleep 60', { idleTimeoutMs: 400 });
    const reads = await ledger.run('mkfifo p; bash -c "echo; read x < p" - $SECRET', {
      cwd: folder(),
      env: { SECRET: '--token=hunter2hunter2' },
      // Time for a shell to get to its input, also on an emulated machine.
      idleTimeoutMs: 1_000,
    });
    const hangs = await ledger.run('sleep 60', { idleTimeoutMs: 400 });
    const slow = await ledger.run('while echo x; do sleep 0.1; done', { idleTimeoutMs: 30_000, timeoutMs: 400 });
    expect(await ledger.of(asks)).toMatchObject({
      state: 'timed-out',
      silence: { ms: 400, waitedFor: 'perhaps waiting for an answer' },
    });
    expect(reads.notes.join()).toContain('hunter2');
    const waitedFor = expect.stringMatching(/^waiting for input that nobody gives: bash \(pid \d+\) opens the FIFO/);
    expect(await ledger.of(reads)).toMatchObject({ state: 'timed-out', silence: { ms: 1_000, waitedFor } });
    expect(ledger.text()).not.toContain('hunter2');
    expect(await ledger.of(hangs)).toMatchObject({ state: 'timed-out', silence: { ms: 400, waitedFor: null } });
    expect(await ledger.of(slow)).toMatchObject({ state: 'timed-out', silence: null });
  });

  test('names the file with the whole output', async () => {
    const ledger = new Ledger();
    const result = await ledger.run('seq 100000', { spill: { dir: folder() } });
    expect((await ledger.of(result)).outputPath).toBe(result.truncation.stdout?.path);
  });
});

describe('a task in the ledger', () => {
  const registry = () => {
    const made = new BackgroundRegistry();
    onTestFinished(() => made.close());
    return made;
  };

  test('is in the background until it ends, and then ended as it did', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const task = await tasks.start('sleep 60', { ledger: true });
    expect(await ledger.last()).toMatchObject({
      state: 'backgrounded',
      taskId: task.id,
      outputPath: task.logPath,
      endedAt: null,
    });
    await tasks.kill(task.id);
    expect(await ledger.last()).toMatchObject({ state: 'aborted', exitCode: 143, signal: 'SIGTERM', taskId: task.id });
    const other = await tasks.start('exit 7', { ledger: true });
    await tasks.wait(other.id);
    expect(await ledger.last()).toMatchObject({ state: 'exited', exitCode: 7, signal: null, taskId: other.id });
    expect(await ledger.read()).toHaveLength(2);
  });

  test('that a command becomes at its limit has one entry', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const cwd = folder();
    const options = { cwd, registry: tasks, onTimeout: 'background', timeoutMs: 200 } as const;
    const result = await ledger.run('until [ -e go ]; do sleep 0.05; done; exit 9', options);
    expect(result.status).toBe('backgrounded');
    expect(await ledger.of(result)).toMatchObject({ state: 'backgrounded', taskId: result.background?.id });
    writeFileSync(join(cwd, 'go'), '');
    await tasks.wait(result.background?.id ?? '');
    expect(await ledger.of(result)).toMatchObject({ state: 'exited', exitCode: 9 });
  });

  test('that ends with its host is aborted', async () => {
    const ledger = new Ledger();
    const tasks = new BackgroundRegistry();
    await tasks.start('sleep 60', { ledger: true });
    await tasks.close();
    await until(async () => (await ledger.last()).state === 'aborted', 'its end');
  });

  test('at its limit is timed-out', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const task = await tasks.start('sleep 60', { ledger: true, timeoutMs: 200 });
    await tasks.wait(task.id);
    expect(await ledger.last()).toMatchObject({ state: 'timed-out', exitCode: 124 });
  });

  test('that was silent for too long has that silence', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const task = await tasks.start('sleep 60', { ledger: true, idleTimeoutMs: 300 });
    await tasks.wait(task.id);
    expect(await ledger.last()).toMatchObject({ state: 'timed-out', silence: { ms: 300, waitedFor: null } });
  });

  linuxTest('has its receipt once that is known', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start('echo a > made', { ledger: true, receipt: 'exact', cwd });
    await tasks.wait(task.id);
    await until(async () => (await ledger.read({ changed: `${cwd}/made` })).length === 1, 'its receipt');
    expect(await ledger.last()).toMatchObject({ state: 'exited', receipt: { created: 1 } });
  });

  test('of what a command has left running is none of its own', async () => {
    const ledger = new Ledger();
    const tasks = registry();
    const result = await ledger.run('sleep 60 & echo done', { registry: tasks });
    expect(await ledger.of(result)).toMatchObject({ state: 'exited', exitCode: 0, taskId: null });
    expect(await ledger.read()).toHaveLength(1);
    await tasks.killAll();
    expect(await ledger.of(result)).toMatchObject({ state: 'exited', exitCode: 0 });
  });
});
