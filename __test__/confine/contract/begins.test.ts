import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { BashSession, bash, warmShells, warmUp } from 'agent-bash';
import { createBashTool, createTerminalTool } from 'agent-bash/ai';
import { registerBashTools } from 'agent-bash/mcp';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alive, folder, host, isRoot, rejection, until } from '../../support/index.ts';
import { descendantsOf, helpersOf, INIT } from '../support/world.ts';

const inits = () => helpersOf(process.pid, INIT).map(({ pid }) => pid);

/** The init of the one world that begins during a call. */
async function begunBy(make: () => unknown): Promise<number> {
  const before = new Set(inits());
  make();
  return until(() => inits().find((pid) => !before.has(pid)));
}

/** The inits below a host with the private directories that they have open. Only root sees the directories. */
function worldsOf(host: number): { pid: number; places: string[] }[] {
  return helpersOf(host, INIT).map(({ pid }) => ({ pid, places: isRoot ? placesOf(pid) : [] }));
}

function placesOf(pid: number): string[] {
  try {
    const fds = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return fds.filter((path) => /\/world-[^/]+$/.test(path));
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

const isGone = ({ pid, places }: { pid: number; places: string[] }) => !alive(pid) && !places.some(existsSync);

const sessions = `
  import { BashSession } from 'agent-bash';
  const session = (cwd) => new BashSession({ cwd, confine: 'workspace' });`;

describe.runIf(process.platform === 'linux')('the world of an owner that is confined', () => {
  const confine = 'workspace';
  const owners = {
    session(cwd: string) {
      const session = new BashSession({ cwd, confine });
      onTestFinished(() => session.close());
      return () => session.run('true');
    },
    tool(cwd: string) {
      const tool = createBashTool({ cwd, confine });
      return async () => {
        for await (const _ of tool.execute({ command: 'true' }, { toolCallId: 'a', messages: [] }));
      };
    },
    terminal(cwd: string) {
      const tool = createTerminalTool({ cwd, confine });
      onTestFinished(() => tool.close());
      return () => tool.execute({ action: 'start', command: 'true' }, { toolCallId: 'a', messages: [] });
    },
    sandbox(cwd: string) {
      const sandbox = createLocalSandbox({ cwd, confine });
      onTestFinished(() => sandbox.stop());
      return () => sandbox.runCommand('true');
    },
    'sandbox session'(cwd: string) {
      const session = createLocalSandboxSession({ cwd, confine });
      onTestFinished(() => session[Symbol.asyncDispose]());
      return () => session.run({ command: 'true' });
    },
    MCP(cwd: string) {
      const tools = new Map<string, (input: object, extra: object) => unknown>();
      const server = {
        registerTool: (name: string, _: object, call: (input: object, extra: object) => unknown) => {
          tools.set(name, call);
        },
      };
      Object.assign(server, { server: { getClientCapabilities: () => ({}), getClientVersion: () => undefined } });
      registerBashTools(server as never, { cwd, confine });
      return () => tools.get('bash')?.({ command: 'true' }, { signal: new AbortController().signal, requestId: 1 });
    },
  };

  test.each(Object.entries(owners))('is begun when its owner is made: %s', async (_, own) => {
    const cwd = folder();
    let first = async (): Promise<unknown> => undefined;
    const init = await begunBy(() => {
      const run = own(cwd);
      first = async () => run();
    });
    const all = inits();
    await first();
    expect(inits().filter((pid) => !all.includes(pid) && pid !== init)).toEqual([]);
    expect(alive(init)).toBe(true);
  });

  test('has a warm shell for the first command', async () => {
    const before = warmShells();
    const session = new BashSession({ cwd: folder(), confine });
    onTestFinished(() => session.close());
    await until(() => warmShells().waiting > before.waiting);
    await session.run('true');
    expect(warmShells().used).toBe(before.used + 1);
  });

  test('leaves nothing if its owner runs nothing', async () => {
    const before = new Set(helpersOf().map(({ pid }) => pid));
    const session = new BashSession({ cwd: folder(), confine });
    const own = () => helpersOf().filter(({ pid }) => !before.has(pid));
    // The gate, init, a listener and a shim.
    await until(() => own().length === 4);
    const worlds = worldsOf(process.pid).filter(({ pid }) => !before.has(pid));
    expect(worlds.flatMap(({ places }) => places)).toHaveLength(isRoot ? 1 : 0);
    await session.close();
    await until(() => own().length === 0 && worlds.every(isGone));
  });

  test('keeps no process alive', async () => {
    const one = host(`${sessions} globalThis.kept = session('/usr/bin'); console.log('up.');`);
    expect(await one.ended()).toEqual({ code: 0, signal: null });
    expect(one.stdout()).toBe('up.\n');
  });

  test('leaves nothing if owners are made and ended in a loop', async () => {
    const one = host(
      `${sessions}
      for (let n = 0; n < 200; n++) {
        const one = session('/usr/bin');
        if (n % 10 === 0) await new Promise((next) => setTimeout(next, n % 7));
        await one.close();
      }
      const last = session('/usr/bin');
      const { stdout } = await last.run('echo ok.');
      await last.close();
      console.log(stdout);
      setInterval(() => {}, 1000);`,
    );
    await one.says(/ok\./);
    await until(() => helpersOf(one.pid, INIT).length === 0);
  });

  test('is one of few if owners are made and dropped', async () => {
    const one = host(
      `${sessions}
      globalThis.kept = Array.from({ length: 20 }, (_, n) => session('/usr/bin'));
      // Its world is made now, or was begun and leaves its place to another.
      await kept[4].run('true');
      console.log('up.');
      setInterval(() => {}, 1000);`,
    );
    await one.says(/up\./);
    await until(() => helpersOf(one.pid, INIT).length === 5);
  });

  test('leaves nothing if the host is killed at any moment of it', async () => {
    for (const ms of [0, 1, 2, 4, 6, 8, 12, 20]) {
      const source = `${sessions} console.log('up.'); globalThis.kept = session('/usr/bin'); setInterval(() => {}, 9);`;
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
    let session: BashSession | undefined;
    await begunBy(() => {
      session = new BashSession({ cwd, confine });
    });
    onTestFinished(() => session?.close());
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [`GIT_${who}_NAME`, `GIT_${who}_EMAIL`].map((name) => [name, 'n'])),
    );
    const made = 'git init -q main && cd main && git commit -q --allow-empty -m m && git worktree add -q ../tree';
    expect((await bash(made, { cwd: base, env })).exitCode).toBe(0);
    const ran = await session?.run('git commit -q --allow-empty -m two', { env });
    expect([ran?.exitCode, ran?.confinement?.write]).toEqual([0, [join(base, 'main/.git'), cwd]]);
  });

  test('is made by warmUp, whose command finds it', async () => {
    const options = { cwd: folder(), confine } as const;
    const all = inits();
    expect(await warmUp(options)).toBe(true);
    const made = inits().filter((pid) => !all.includes(pid));
    expect(made).toHaveLength(1);
    await bash('true', options);
    expect(inits().filter((pid) => !all.includes(pid))).toEqual(made);
  });
});
