import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HarnessV1NetworkSandboxSession } from '@ai-sdk/harness';
import { HarnessAgent, prepareHarnessSandboxTemplate } from '@ai-sdk/harness/agent';
import type { Target } from 'agent-bash';
import { type HarnessSandboxOptions, harnessSandbox } from 'agent-bash/harness';
import { describe, expect, it } from 'vitest';
import { HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { inPlaces } from '../../sandbox/places.ts';
import { alive, finished, folder, freePort, HANG, outside, until } from '../../support/index.ts';
import { shellHarness } from './harness-shell.ts';
import { printedByPage } from './support.ts';

const DENY_ALL = { mode: 'deny-all' } as const;

/** The process of a confined command that has written its pid there. */
async function leftIn(own: string): Promise<number> {
  const inner = await pidIn(own);
  return await until(() => outside(inner, own), `process ${inner} of the world`);
}

interface Given extends Pick<Parameters<typeof shellHarness>[0] & object, 'getBootstrap'> {
  sandboxConfig?: ConstructorParameters<typeof HarnessAgent>[0]['sandboxConfig'];
}

/** Makes an agent, and functions for its sessions, which are on a target if one is given. */
function makeAgent(
  target: Target | undefined,
  options: HarnessSandboxOptions = {},
  { getBootstrap, sandboxConfig }: Given = {},
) {
  const dir = options.dir ?? folder();
  let sandbox: HarnessV1NetworkSandboxSession | undefined;
  let work = '';
  const harness = shellHarness({
    ...(getBootstrap && { getBootstrap }),
    onStart: ({ sandboxSession, sessionWorkDir }) => {
      sandbox = sandboxSession as HarnessV1NetworkSandboxSession;
      work = sessionWorkDir;
    },
  });
  const agent = new HarnessAgent({
    harness,
    sandbox: harnessSandbox({ dir, target, ...options }),
    ...(sandboxConfig && { sandboxConfig }),
  });
  const start = async (given?: Parameters<typeof agent.createSession>[0]) => {
    const session = await agent.createSession(given);
    finished(() => session.destroy());
    return {
      session,
      sandbox: sandbox as HarnessV1NetworkSandboxSession,
      work,
      say: async (prompt: string, abortSignal?: AbortSignal) =>
        (await agent.generate({ session, prompt, ...(abortSignal && { abortSignal }) })).text,
    };
  };
  return { dir, harness, start };
}

/** A server of this machine, which says «hello». */
async function helloPort(): Promise<number> {
  const server = createServer((_, response) => response.end('hello'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  finished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const fetching = (url: string) =>
  `'${process.execPath}' -e 'fetch(process.argv[1]).then((r) => r.text()).then(console.log, (e) => console.log("refused"))' ${url}`;

const serving = (port: number) =>
  `'${process.execPath}' -e 'require("http").createServer((_, r) => r.end("inside")).listen(${port}, "127.0.0.1", () => console.log("up"))'`;

inPlaces((place) => {
  const agentWith = (options?: HarnessSandboxOptions, given?: Given) => makeAgent(place.target, options, given);

  describe('an agent', () => {
    it('a program of the machine: runs as a real process, with a pid and streams', async () => {
      const { start } = agentWith();
      const { say, sandbox, work } = await start();
      expect(await say(`'${process.execPath}' -p '6 * 7'; pwd; echo last >&2`)).toBe(`42\n${work}\nlast\n`);
      const { pid, stdout, wait } = await sandbox.spawn({ command: 'cat' });
      expect(pid).toBeGreaterThan(1);
      expect(await new Response(stdout).text()).toBe('');
      expect(await wait()).toMatchObject({ exitCode: 0 });
      expect(work.startsWith(`${sandbox.defaultWorkingDirectory}/`)).toBe(true);
    });

    it('a write outside: is denied, and the result says so', async () => {
      const { start } = agentWith();
      const { say, sandbox } = await start();
      expect(await say('touch /etc/agent-bash-test')).toMatch(/Read-only file system|Permission denied/);
      expect(await sandbox.run({ command: 'touch /etc/agent-bash-test' })).toMatchObject({
        exitCode: 1,
        confinement: { denied: [{ kind: 'write', target: '/etc/agent-bash-test', program: 'touch' }] },
      });
    });

    it('an abort of a turn: ends the whole tree', async () => {
      const { start } = agentWith();
      const { say, work } = await start();
      const abort = new AbortController();
      const turn = say(WITH_CHILD, abort.signal);
      const child = await leftIn(work);
      abort.abort();
      await expect(turn).rejects.toThrow();
      await until(() => !alive(child));
    });

    it('the end of a session: ends the whole tree', async () => {
      const { start, dir } = agentWith();
      const { say, session, work } = await start();
      expect(await say(HELD_PIPE)).toBe('first\nlast\n');
      const child = await leftIn(work);
      expect(alive(child)).toBe(true);
      await session.destroy();
      expect(alive(child)).toBe(false);
      expect(readdirSync(dir)).toEqual([]);
    });

    it('a denied command: is refused by safety, with the reason', async () => {
      const { start } = agentWith();
      const { say } = await start();
      await expect(say('rm -rf /')).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    });

    it('gets a large output whole, and 124 at the limit of the options', async () => {
      const { say, sandbox } = await agentWith({ timeoutMs: 5_000 }).start();
      expect(await say('seq 100000')).toHaveLength(588_895);
      expect(await sandbox.run({ command: 'echo a; sleep 1000' })).toMatchObject({ exitCode: 124, stdout: 'a\n' });
    });

    it('gives its hooks and tools nothing but commands and files', async () => {
      let members: string[] = [];
      const onSession = async ({ session }: { session: object }) => {
        members = Object.keys(session);
      };
      const { sandbox } = await agentWith({}, { sandboxConfig: { onSession } }).start();
      expect(members.sort()).toEqual(Object.keys(sandbox.restricted()).sort());
      for (const infra of ['stop', 'destroy', 'setNetworkPolicy', 'getPortEndpoint', 'ports', 'id']) {
        expect(sandbox).toHaveProperty(infra);
        expect(members).not.toContain(infra);
      }
      for (const absent of ['setPorts', 'setRequestTransformations', 'addRequestTransformations']) {
        expect(sandbox).not.toHaveProperty(absent);
      }
    });
  });

  describe('the network', () => {
    it('a network policy: holds for later commands, and ends what runs', async () => {
      const port = await helloPort();
      const hosts = { 'api.test': '127.0.0.1', 'other.test': '127.0.0.1' };
      const allowedHosts = [`api.test:${port}`];
      const { say, sandbox, work } = await agentWith({
        confine: { network: { allow: [], hosts } },
        networkPolicy: { mode: 'custom', allowedHosts },
      }).start();
      expect(await say(fetching(`http://api.test:${port}`))).toBe('hello\n');
      expect(await say(fetching(`http://other.test:${port}`))).toBe('refused\n');
      await say(HELD_PIPE);
      const child = await leftIn(work);
      await sandbox.setNetworkPolicy?.(DENY_ALL);
      expect(alive(child)).toBe(false);
      expect(await say(fetching(`http://api.test:${port}`))).toBe('refused\n');
      await sandbox.setNetworkPolicy?.({ mode: 'custom', allowedHosts: [`other.test:${port}`] });
      expect(await say(fetching(`http://other.test:${port}`))).toBe('hello\n');
      await sandbox.setNetworkPolicy?.({ mode: 'allow-all' });
      expect(await say(fetching(`http://127.0.0.1:${port}`))).toBe('hello\n');
    });

    it('a server at a port: is reached by getPortEndpoint', async () => {
      for (const networkPolicy of [{ mode: 'allow-all' } as const, DENY_ALL]) {
        const port = await freePort();
        const { sandbox } = await agentWith({ networkPolicy, ports: [port] }).start();
        const server = await sandbox.spawn({ command: serving(port) });
        await server.stdout.getReader().read();
        const { url } = await sandbox.getPortEndpoint({ port });
        expect(await (await fetch(url)).text()).toBe('inside');
        await sandbox.stop();
        await expect(fetch(url)).rejects.toThrow();
      }
    });
  });

  describe('a session', () => {
    it('shows a sign of life while onFirstCreate runs', async () => {
      const dir = folder();
      const claim = () => readdirSync(dir).find((name) => name.endsWith('.claim')) as string;
      const signed = (path: string, before: Date) =>
        until(() => statSync(path).mtimeMs > before.getTime(), 'a sign of life', HANG);
      const onFirstCreate = async () => {
        const earlier = new Date(0);
        utimesSync(join(dir, claim()), earlier, earlier);
        await signed(join(dir, claim()), earlier);
      };
      await harnessSandbox({ dir, target: place.target, confine: 'off' }).createSession({
        identity: 'one',
        onFirstCreate,
      });
    });

    it('goes on with what runs when it was detached and is resumed in this process', async () => {
      const { start } = agentWith();
      const first = await start({ sessionId: 'one' });
      const { pid } = await first.sandbox.spawn({ command: 'sleep 1000' });
      const resumeFrom = await first.session.detach();
      const second = await start({ sessionId: 'one', resumeFrom });
      expect(second.sandbox).toBe(first.sandbox);
      expect(alive(pid as number)).toBe(true);
      await second.session.destroy();
      expect(alive(pid as number)).toBe(false);
    });

    it('the first session of an identity: prepares for all later ones', async () => {
      const getBootstrap = async () => ({
        harnessId: 'shell',
        bootstrapDir: '.shell',
        files: [{ path: '.shell/version', content: '1' }],
        commands: [{ command: 'echo installed >> log' }],
      });
      let bootstraps = 0;
      const sandboxConfig = {
        bootstrapHash: '1',
        onBootstrap: async ({ session }: { session: { run(o: { command: string }): PromiseLike<unknown> } }) => {
          bootstraps += 1;
          await session.run({ command: 'echo tools > tools' });
        },
      };
      const { start, harness, dir } = agentWith({}, { getBootstrap, sandboxConfig });
      await prepareHarnessSandboxTemplate({
        harness,
        sandboxProvider: harnessSandbox({ dir, target: place.target }),
        sandboxConfig,
      });
      const sessions = await Promise.all([start(), start()]);
      sessions.push(await start());
      expect(bootstraps).toBe(1);
      for (const { say } of sessions) expect(await say('cd ..; cat .shell/log tools')).toBe('installed\ntools\n');
      await sessions[0]?.say('echo changed > ../tools');
      expect(await sessions[1]?.say('cat ../tools')).toBe('tools\n');
    });
  });
});

describe('a session', () => {
  it('secrets of the host: are withheld, all else is inherited', async () => {
    process.env.AGENT_BASH_TEST_TOKEN = 'secret';
    process.env.AGENT_BASH_TEST_WORD = 'word';
    finished(() => {
      delete process.env.AGENT_BASH_TEST_TOKEN;
      delete process.env.AGENT_BASH_TEST_WORD;
    });
    const { say } = await makeAgent(undefined).start();
    expect(await say('echo "<$AGENT_BASH_TEST_TOKEN> $AGENT_BASH_TEST_WORD"')).toBe('<> word\n');
  });

  it('a session of another process: is resumed, with its files, home and policy', async () => {
    const dir = folder();
    const source = `
      import { HarnessAgent } from '@ai-sdk/harness/agent';
      import { harnessSandbox } from 'agent-bash/harness';
      import { shellHarness } from './harness-shell.ts';
      let sandbox;
      const harness = shellHarness({ onStart: (options) => (sandbox = options.sandboxSession) });
      const agent = new HarnessAgent({ harness, sandbox: harnessSandbox({ dir: process.argv[1] }) });
      const session = await agent.createSession({ sessionId: 'one' });
      await sandbox.setNetworkPolicy({ mode: 'deny-all' });
      await agent.generate({ session, prompt: 'echo 42 > answer; echo home > ~/note' });
      console.log(JSON.stringify(await session.stop()));`;
    const options = { cwd: import.meta.dirname, env: { ...process.env, NODE_NO_WARNINGS: '1' } };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', source, dir],
      options,
    );
    const { start } = makeAgent(undefined, { dir });
    const { say, sandbox, session } = await start({ sessionId: 'one', resumeFrom: JSON.parse(stdout) });
    expect(await say('cat answer ~/note')).toBe('42\nhome\n');
    expect(await sandbox.run({ command: 'true' })).toHaveProperty('confinement.held', [
      'files',
      'network',
      'processes',
      'syscalls',
    ]);
    const state = await session.stop();
    await expect(start({ sessionId: 'two', resumeFrom: state })).rejects.toThrow('there is no session "two"');
    await expect(start({ sessionId: 'one' })).rejects.toThrow('there is a session "one" already');
    await expect((await start({ sessionId: 'one', resumeFrom: state })).say('cat answer')).resolves.toBe('42\n');
  });

  it('runs onFirstCreate once, whichever of two processes asks first, also after a kill', async () => {
    const dir = folder();
    const source = `
      import { harnessSandbox } from 'agent-bash/harness';
      const [, dir, kills] = process.argv;
      const onFirstCreate = async (session) => {
        await session.run({ command: 'echo made >> log' });
        console.log('made');
        if (kills) process.kill(process.pid, 'SIGKILL');
      };
      const session = await harnessSandbox({ dir }).createSession({ identity: 'one', onFirstCreate });
      console.log((await session.run({ command: 'cat log' })).stdout);`;
    const run = (...words: string[]) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source, dir, ...words], {
        cwd: import.meta.dirname,
      });
    await expect(run('kill')).rejects.toMatchObject({ signal: 'SIGKILL', stdout: 'made\n' });
    const printed = (await Promise.all([run(), run(), run()])).map(({ stdout }) => stdout.trim()).sort();
    expect(printed).toEqual(['made', 'made', 'made\nmade']);
    expect(readdirSync(dir).filter((name) => name.startsWith('making-') || name.endsWith('.claim'))).toEqual([]);
  });

  it('is kept while something may run in it, and once stopped only as long as the host has it', async () => {
    const source = `
      import { harnessSandbox } from 'agent-bash/harness';
      const provider = harnessSandbox({ dir: process.argv[1], confine: 'off' });
      const made = async (sessionId) => {
        const session = await provider.createSession({ sessionId });
        await session.run({ command: 'echo text > a' });
        if (sessionId === 'stopped') await session.stop();
        return new WeakRef(session);
      };
      const sessions = [await made('stopped'), await made('running')];
      for (let rounds = 100; rounds > 0 && sessions[0].deref(); rounds--) {
        await new Promise(setImmediate);
        gc();
      }
      const again = await provider.resumeSession({ sessionId: 'stopped' });
      console.log(sessions.map((session) => session.deref()?.id), await again.readTextFile({ path: 'a' }));`;
    const args = ['--expose-gc', '--input-type=module', '--eval', source, folder()];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    expect(stdout).toBe("[ undefined, 'running' ] text\n\n");
  });

  it('without dir its folder goes with the process, also after a kill', async () => {
    const source = `
      import { harnessSandbox } from 'agent-bash/harness';
      const sandbox = harnessSandbox();
      const session = await sandbox.createSession();
      await session.run({ command: 'sleep 1000 > /dev/null & echo a > a' });
      console.log(session.defaultWorkingDirectory, 'resumeSession' in sandbox);
      if (process.argv[1]) process.kill(process.pid, 'SIGKILL');`;
    for (const words of [[], ['kill']]) {
      const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source, ...words], {
        cwd: import.meta.dirname,
      });
      const { stdout } = await running.catch((error) => error);
      const [path = '', resumes] = stdout.trim().split(' ');
      expect(resumes).toBe('false');
      await until(() => !existsSync(join(path, '..')), 'the temporary directory is gone');
    }
  });
});

it('the examples of the page run', async () => {
  const shell = await readFile(join(import.meta.dirname, 'harness-shell.ts'), 'utf8');
  const [lines] = await printedByPage('harness.md', {
    'harness.js': `${shell}\nexport const harness = shellHarness();`,
  });
  expect(lines).toEqual(['42', "touch: cannot touch '/etc/passwd': Read-only file system"]);
}, 120_000);
