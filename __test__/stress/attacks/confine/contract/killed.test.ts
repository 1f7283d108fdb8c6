import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { BashSession, bash, type ConfineOptions, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { GATE, helpersOf, INIT, LISTENER, SHIM, shimsWith } from '../../../../confine/support/world.ts';
import {
  alive,
  childrenOf,
  folder,
  kill,
  mark,
  processOf,
  settles,
  sleepers,
  supervisorOf,
  until,
} from '../../../../support/index.ts';

const confine: ConfineOptions = { network: { allow: ['example.org'] } };

/** The processes of all worlds of this host: those with a name, or all. */
function helpers(name?: string): number[] {
  return helpersOf(process.pid, ...(name ? [name] : [])).map(({ pid }) => pid);
}

/** Kills processes, and waits until they are gone. */
async function end(found: number[]) {
  expect(found).not.toEqual([]);
  for (const pid of found) kill(pid, 'SIGKILL');
  await until(() => found.every((pid) => !alive(pid)));
}

const works = async (cwd: string) => {
  const { stdout, confinement } = await bash('echo works; echo x >/tmp/x', { cwd, confine });
  expect([stdout, confinement?.held.length]).toEqual(['works\n', 4]);
};

describe.runIf(process.platform === 'linux')('a process of a world that is killed', () => {
  test.each([
    ['the first one', INIT],
    ['the gate', GATE],
    ['the listeners', LISTENER],
    ['every one that waits', undefined],
  ])('while idle, %s: the next command has a world again', async (_, name) => {
    const cwd = folder();
    for (let round = 0; round < 3; round++) {
      await works(cwd);
      // A command that starts before their end may still be in the old world, and ends with it. So does one that a warm
      // shell gets before its shim has noticed the end of its listener.
      // Until it has its name, a process that is just forked looks like a shim.
      if (name === LISTENER) await until(() => helpers(SHIM).length === helpers(LISTENER).length);
      const shims = name === LISTENER ? helpers(SHIM) : [];
      await end(helpers(name));
      await until(() => !shims.some(alive), 'the shims have noticed it');
      await works(cwd);
      await works(cwd);
    }
  });

  test.each([INIT, GATE])('%s, below a command: nothing stays, and no promise hangs', async (name) => {
    const [cwd, seconds] = [folder(), mark()];
    const running = bash(`setsid sleep ${seconds} & sleep ${seconds}`, {
      cwd,
      confine,
      timeoutMs: 3_000,
      graceMs: 100,
    });
    await until(() => sleepers(seconds).length === 2);
    for (const pid of helpers(name)) kill(pid, 'SIGKILL');
    const { status } = await running;
    expect(['signaled', 'timed-out']).toContain(status);
    await until(() => sleepers(seconds).length === 0);
    await works(cwd);
  });

  test.each([
    ['the supervisor', () => [supervisorOf()?.pid ?? 0]],
    ['its shim', (seconds: string) => shimsWith(seconds).map(({ pid }) => pid)],
    ['the first process', () => helpers(INIT)],
  ])('below a command, a session and a terminal, %s: all of them end', async (_, victims) => {
    const [cwd, seconds] = [folder(), mark()];
    const options = { cwd, confine, graceMs: 100, timeoutMs: 60_000 };
    const command = `setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &); sleep ${seconds}`;
    await using session = new BashSession(options);
    await session.run('x=1');
    const terminal = new PtySession(options);
    await terminal.start(command);
    const running = [bash(command, options), session.run(command), terminal.result()];
    await until(() => sleepers(seconds).length === 9);
    const shims = shimsWith(seconds);
    expect(shims.length).toBe(3);
    await end(victims(seconds));
    for (const result of await settles(Promise.all(running))) {
      expect(result).toMatchObject({ status: 'signaled', signal: 'SIGKILL' });
    }
    await until(() => sleepers(seconds).length === 0);
    await until(() => shims.every(({ pid }) => !alive(pid)));
    await works(cwd);
    expect((await session.run('echo $x; mkdir made && rmdir made')).stdout).toBe('1\n');
  });

  test('the shim of a command with many processes: all of them end in a moment', async () => {
    const cwd = folder();
    const wait = 'mkfifo f; exec 9<>f; for ((i = 0; i < 2000; i++)); do read -ru 9 & done; touch up; wait';
    const running = bash(wait, { cwd, confine, timeoutMs: 60_000 });
    await until(() => existsSync(join(cwd, 'up')));
    const [shim] = shimsWith('mkfifo');
    const [init] = helpers(INIT);
    await end([shim?.pid ?? 0]);
    expect(await settles(running)).toMatchObject({ status: 'signaled', signal: 'SIGKILL' });
    // They are left to the first process of the world.
    await until(() => childrenOf(init ?? 0).length === 0);
    await works(cwd);
  });

  test('a listener with a call of a command: the call fails, and nothing is done unconfined', async () => {
    const cwd = folder();
    const waits = 'mkfifo f; touch up; echo x >f || echo refused; mkdir /etc/agent-bash-test; touch new; chmod 600 own';
    const running = bash(`touch own; ${waits}; exec 3<own && echo reads`, { cwd, confine, timeoutMs: 60_000 });
    await until(() => existsSync(join(cwd, 'up')));
    const shim = await until(() => shimsWith('mkfifo')[0]);
    await end(helpers(LISTENER));
    const { status, stdout } = await settles(running);
    expect([status, stdout]).toEqual(['exited', 'refused\nreads\n']);
    expect([existsSync('/etc/agent-bash-test'), existsSync(join(cwd, 'new'))]).toEqual([false, false]);
    // The shim takes no other command.
    await until(() => !alive(shim.pid));
    await works(cwd);
  });

  test('a listener that a command stops goes on', async () => {
    const cwd = folder();
    const stop = `for pid in /proc/[0-9]*; do [ "$(cat $pid/comm)" = ${LISTENER} ] && kill -STOP \${pid#/proc/}; done`;
    const options = { cwd, confine, timeoutMs: 60_000 };
    for (let round = 0; round < 3; round++) {
      const { stdout } = await bash(`${stop}; mkdir made && rmdir made && echo made`, options);
      expect(stdout).toBe('made\n');
    }
    expect(helpers(LISTENER).map((pid) => processOf(pid)?.state)).not.toContain('T');
  });

  test('a listener that a command kills: the next one has another', async () => {
    const cwd = folder();
    const end = `for pid in /proc/[0-9]*; do [ "$(cat $pid/comm)" = ${LISTENER} ] && kill -KILL \${pid#/proc/}; done`;
    for (let round = 0; round < 3; round++) {
      const { stdout } = await bash(`${end}; mkdir made; ls`, { cwd, confine });
      expect(stdout).toBe('');
      await works(cwd);
    }
  });

  test('the gate while a connection is open: the connection ends, and the next command has one again', async () => {
    const cwd = folder();
    const server = createServer((_, response) => void response.write('begun\n'));
    onTestFinished(() => void server.closeAllConnections());
    const port = await listening(server);
    const reach = { allow: [`own.test:${port}`], hosts: { 'own.test': '127.0.0.1' } };
    const options = { cwd, confine: { network: reach }, timeoutMs: 60_000 };
    for (let round = 0; round < 2; round++) {
      let heard = '';
      const onOutput = ({ text }: { text: string }) => {
        heard += text;
      };
      const running = bash(`curl -sN http://own.test:${port}; echo ended`, { ...options, onOutput });
      await until(() => heard.includes('begun'));
      const worlds = helpers(INIT);
      await end(helpers(GATE));
      expect((await settles(running)).stdout).toBe('begun\nended\n');
      await until(() => worlds.every((pid) => !alive(pid)));
    }
  });

  test('a shim that waits with a warm shell: the next command has another', async () => {
    const cwd = folder();
    for (let round = 0; round < 3; round++) {
      await works(cwd);
      await end(helpers(SHIM));
      await works(cwd);
    }
  });
});

function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}
