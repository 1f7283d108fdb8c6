import { once } from 'node:events';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { BashSession, bash, warmShells, warmUp } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alive, folder, host, isRoot, rejection, until } from '../../support/index.ts';
import { namespacesTest } from '../support/held.ts';
import { stepped } from '../support/steps.ts';
import { descendantsOf, helpersOf, isGone, LISTENER, SHIM, worldsOf } from '../support/world.ts';

/** The imports of hosts, and their sessions. */
const SESSIONS = `
  import { BashSession, warmUp } from 'agent-bash';
  const session = (cwd) => new BashSession({ cwd, confine: 'workspace' });`;

/** How an owner is made with `options`, and how it runs its first command. */
const OWNERS = {
  session: ['one = new BashSession(options);', "await one.run('true');"],
  tool: [
    'one = createBashTool(options);',
    "for await (const _ of one.execute({ command: 'true' }, { toolCallId: 'a', messages: [] }));",
  ],
  'terminal tool': [
    'one = createTerminalTool(options);',
    "await one.execute({ action: 'start', command: 'true' }, { toolCallId: 'a', messages: [] });",
  ],
  sandbox: ['one = createLocalSandbox(options);', "await one.runCommand('true');"],
  'sandbox session': ['one = createLocalSandboxSession(options);', "await one.run({ command: 'true' });"],
  MCP: [
    `const server = { getClientCapabilities: () => ({}), getClientVersion: () => undefined };
    registerBashTools({ server, registerTool: (name, _, call) => { if (name === 'bash') one = call; } }, options);`,
    "await one({ command: 'true' }, { signal: new AbortController().signal, requestId: 1 });",
  ],
};

describe.runIf(process.platform === 'linux')('the world of an owner that is confined', () => {
  const confine = 'workspace';

  namespacesTest.each(Object.entries(OWNERS))(
    'is begun when its owner is made: %s',
    async (_, [make = '', run = '']) => {
      const imports = `
      import { createBashTool, createTerminalTool } from 'agent-bash/ai';
      import { registerBashTools } from 'agent-bash/mcp';
      import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
      const options = { cwd: ${JSON.stringify(folder())}, confine: 'workspace' };
      let one;`;
      const { host: at, step } = stepped(SESSIONS + imports, [make, run]);
      await step();
      await until(() => helpersOf(at.pid, LISTENER).length === 1);
      const begun = worldsOf(at.pid);
      expect(begun).toHaveLength(1);
      await step();
      // The world of the command, and a blank one.
      await until(() => worldsOf(at.pid).length === 2);
      expect(worldsOf(at.pid)).toEqual(expect.arrayContaining(begun));
    },
  );

  test('has a warm shell for the first command', async () => {
    const before = warmShells();
    const session = new BashSession({ cwd: folder(), confine });
    onTestFinished(() => session.close());
    await until(() => warmShells().waiting > before.waiting);
    await session.run('true');
    expect(warmShells().used).toBe(before.used + 1);
  });

  namespacesTest('leaves nothing if its owner runs nothing', async () => {
    const { host: at, step } = stepped(SESSIONS, ["const one = session('/usr/bin');", 'await one.close();']);
    await step();
    await until(() => helpersOf(at.pid, LISTENER).length === 1);
    const worlds = worldsOf(at.pid);
    expect(worlds.flatMap(({ places }) => places)).toHaveLength(isRoot ? 1 : 0);
    await step();
    await until(() => worlds.every(isGone) && helpersOf(at.pid).length === helpersOf(at.pid, SHIM).length);
  });

  test('keeps no process alive', async () => {
    const one = host(`${SESSIONS} globalThis.kept = session('/usr/bin'); console.log('up.');`);
    expect(await one.ended()).toEqual({ code: 0, signal: null });
    expect(one.stdout()).toBe('up.\n');
  });

  namespacesTest('leaves nothing if owners are made and ended in a loop', async () => {
    const { host: at, step } = stepped(SESSIONS, [
      `for (let n = 0; n < 200; n++) {
        const one = session('/usr/bin');
        if (n % 10 === 0) await new Promise((next) => setTimeout(next, n % 7));
        await one.close();
      }
      const last = session('/usr/bin');
      if ((await last.run('echo ok')).stdout !== 'ok\\n') throw new Error('it did not run');
      await last.close();`,
    ]);
    await step();
    // The blank one is left.
    await until(() => worldsOf(at.pid).length === 1 && helpersOf(at.pid, LISTENER).length === 0);
  });

  namespacesTest('is one of few if owners are made and dropped', async () => {
    const { host: at, step } = stepped(SESSIONS, [
      "globalThis.kept = Array.from({ length: 20 }, () => session('/usr/bin'));",
      "const last = session('/usr/bin'); await last.run('true');",
    ]);
    await step();
    await until(() => worldsOf(at.pid).length === 4);
    await step();
    // That of the last one, and a blank one.
    await until(() => worldsOf(at.pid).length === 6);
    expect(worldsOf(at.pid)).toHaveLength(6);
  });

  test('leaves nothing if the host is killed at any moment of it', async () => {
    for (const ms of [0, 1, 2, 4, 6, 8, 12, 20]) {
      const source = `${SESSIONS} console.log('up.'); globalThis.kept = session('/usr/bin'); setInterval(() => {}, 9);`;
      const one = host(source);
      await one.says(/up\./);
      await new Promise((next) => setTimeout(next, ms));
      const helpers = descendantsOf(one.pid).filter(({ name }) => name.startsWith('agent-bash-'));
      const worlds = worldsOf(one.pid);
      one.process.kill('SIGKILL');
      await one.ended();
      await until(() => helpers.every(({ pid }) => !alive(pid)) && worlds.every(isGone));
    }
  });

  test('is that of a directory that is gone: the first command reports it', async () => {
    const cwd = join(folder(), 'gone');
    mkdirSync(cwd);
    const session = new BashSession({ cwd, confine });
    onTestFinished(() => session.close());
    rmSync(cwd, { recursive: true });
    expect(await rejection(() => session.run('true'))).toMatchObject({ code: 'ERR_BASH_CWD_NOT_FOUND' });
    const never = new BashSession({ cwd: join(cwd, 'never'), confine });
    onTestFinished(() => never.close());
    expect(await rejection(() => never.run('true'))).toMatchObject({ code: 'ERR_BASH_CWD_NOT_FOUND' });
  });

  test('fails as its first command does, which tries again', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const options = { cwd: folder(), confine: { expose: [port] } };
    const session = new BashSession(options);
    onTestFinished(() => session.close());
    expect(await rejection(() => session.run('true'))).toMatchObject({ code: 'ERR_BASH_CONFINEMENT' });
    expect(await rejection(() => warmUp(options))).toMatchObject({ code: 'ERR_BASH_CONFINEMENT' });
    await new Promise((closed) => server.close(closed));
    expect((await session.run('true')).exitCode).toBe(0);
  });

  test('begins for no policy: the first command reports it', async () => {
    const session = new BashSession({ cwd: folder(), confine: { write: ['/no/such/directory'] } });
    onTestFinished(() => session.close());
    expect(await rejection(() => session.run('true'))).toMatchObject({ code: 'ERR_BASH_CONFINEMENT' });
  });

  test('grants what git needs by the time of the first command', async () => {
    const base = realpathSync(folder());
    const cwd = join(base, 'tree');
    mkdirSync(cwd);
    const before = warmShells().waiting;
    const session = new BashSession({ cwd, confine });
    onTestFinished(() => session.close());
    await until(() => warmShells().waiting > before);
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [`GIT_${who}_NAME`, `GIT_${who}_EMAIL`].map((name) => [name, 'n'])),
    );
    const made = 'git init -q main && cd main && git commit -q --allow-empty -m m && git worktree add -q ../tree';
    expect((await bash(made, { cwd: base, env })).exitCode).toBe(0);
    const ran = await session.run('git commit -q --allow-empty -m two', { env });
    expect([ran.exitCode, ran.confinement?.write]).toEqual([0, [join(base, 'main/.git'), cwd]]);
  });

  namespacesTest('is made by warmUp, whose command finds it', async () => {
    const options = `{ cwd: ${JSON.stringify(folder())}, confine: 'workspace' }`;
    const { host: at, step } = stepped(SESSIONS, [`await warmUp(${options});`, `await bash('true', ${options});`]);
    await step();
    const made = worldsOf(at.pid);
    expect(made).toHaveLength(1);
    await step();
    await until(() => worldsOf(at.pid).length === 2);
    expect(worldsOf(at.pid)).toEqual(expect.arrayContaining(made));
  });
});
