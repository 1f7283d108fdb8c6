import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, hostResult } from '../../../../support/index.ts';

/** Prints the numbers of the descriptors that a program has. */
const PROGRAM = `python3 -c 'import os; print("program=%s." % [fd for fd in range(1024) if os.path.exists("/proc/self/fd/%d" % fd)])'`;

const numbers = (output: string) => /program=(.*)\./.exec(output)?.[1];

const STANDARD = '[0, 1, 2]';
/** With those by which the shell of a session gives its state back. */
const SESSION = '[0, 1, 2, 500, 501, 502]';

/** A program of a host with `before`, which prints how calls end. */
const attempts = (body: string, before: string) =>
  hostResult<string[]>(
    `
    import { BackgroundRegistry } from 'agent-bash';
    import { closeSync, openSync } from 'node:fs';
    const options = { cwd: ${JSON.stringify(folder())}, confine: 'workspace' };
    const said = [];
    const tell = (call) => call.then(({ stdout }) => said.push(stdout ?? 'ok'), (error) => said.push(error.code + ' ' + error.message));
    ${body}
    console.log(JSON.stringify(said));
    process.exit();`,
    { before },
  );

describe.runIf(process.platform === 'linux')('descriptors', () => {
  test('a cold and a warm command, a task and a terminal have the standard ones alone', async () => {
    const options = { cwd: folder(), confine: 'workspace' } as const;
    for (const warm of [false, false, true, true, true]) {
      expect(numbers((await bash(PROGRAM, { ...options, warm })).stdout)).toBe(STANDARD);
    }
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { id } = await registry.start(PROGRAM, options);
    expect(numbers((await registry.wait(id)).output)).toBe(STANDARD);
    const terminal = new PtySession(options);
    await terminal.start(PROGRAM);
    expect(numbers((await terminal.result()).stdout)).toBe(STANDARD);
  });

  test('a command of a session has three more, which lead to its own state', async () => {
    await using session = new BashSession({ cwd: folder(), confine: 'workspace' });
    for (let round = 0; round < 3; round++) {
      const { stdout } = await session.run(`${PROGRAM}; readlink /proc/self/fd/50{0,1,2} | tr -d '0-9'`);
      expect([numbers(stdout), stdout.split('\n').slice(1, 4)]).toEqual([
        SESSION,
        ['/memfd:agent-bash (deleted)', '/memfd:agent-bash (deleted)', 'pipe:[]'],
      ]);
    }
  });

  test.each([64, 100])('a host that may have %i confines nothing, and says so at once', async (limit) => {
    const body = "for (const confine of ['workspace', 'off']) await tell(bash('echo x', { ...options, confine }));";
    const [first, second] = await attempts(body, `ulimit -n ${limit}`);
    expect(first).toContain('ERR_BASH_SPAWN ');
    expect(first).toContain(`confined commands need a limit of 128 open files, and this process has ${limit}`);
    expect(second).toBe('x\n');
  });

  test.each([128, 256])('a host that has used up its %i: a clear error, and the next call works', async (limit) => {
    const body = `
      await tell(bash('echo first', options));
      const files = [];
      try { for (;;) files.push(openSync('/dev/null')); } catch {}
      for (const file of files.splice(0, 3)) closeSync(file);
      await tell(bash('echo x', options));
      for (const file of files) closeSync(file);
      await tell(bash('echo next', options));`;
    const [first, second, third] = await attempts(body, `ulimit -n ${limit}`);
    expect(second).toMatch(/^ERR_BASH_SPAWN .*Too many open files.*EMFILE/s);
    expect([first, third]).toEqual(['echo first', 'echo next'].map((one) => `${one.slice(5)}\n`));
  });

  test('more tasks than a world has descriptors for: a clear error, and another one when some have ended', async () => {
    const body = `
      const registry = new BackgroundRegistry({ maxTasks: 500 });
      while (said.every((one) => one === 'ok') && said.length < 300) await tell(registry.start('sleep 300', options));
      const started = said.splice(0, said.length - 1).length;
      for (const { id } of registry.list().slice(0, 20)) await registry.kill(id);
      await tell(registry.start('true', options));
      await registry.killAll();
      said.push(String(started > 30));`;
    const [refused, next, many] = await attempts(body, 'ulimit -n 256');
    expect(refused).toMatch(/^ERR_BASH_SPAWN .*Too many open files/s);
    expect([next, many]).toEqual(['ok', 'true']);
  });
});
