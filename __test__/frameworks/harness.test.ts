import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, relative } from 'node:path';
import type { Target } from 'agent-bash';
import { type HarnessSandboxOptions, type HarnessV1NetworkPolicy, harnessSandbox } from 'agent-bash/harness';
import { describe, expect, it } from 'vitest';
import { reachedUnder } from '../../ts/frameworks/harness/policy.ts';
import { inPlaces } from '../sandbox/places.ts';
import { remove } from '../support/folder.ts';
import { alive, finished, folder, freePort, isLinux, outside, place, state, until } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

const METHODS = [
  ...['deleteFile', 'description', 'listDirectory', 'readBinaryFile', 'readFile', 'readTextFile', 'run', 'spawn'],
  ...['stat', 'writeBinaryFile', 'writeFile', 'writeTextFile'],
];

/** A provider whose sessions are destroyed with the test. */
function provider(target: Target | undefined, options: HarnessSandboxOptions) {
  const dir = options.dir ?? folder();
  const provider = harnessSandbox({ dir, target, ...options });
  const kept = async <T extends { destroy(): Promise<void> }>(making: Promise<T>) => {
    const session = await making;
    finished(() => session.destroy());
    return session;
  };
  return {
    dir,
    create: (given?: Parameters<typeof provider.createSession>[0]) => kept(provider.createSession(given)),
    resume: async (sessionId: string) => {
      if (provider.resumeSession === undefined) throw new Error('there is no resumeSession');
      return await kept(provider.resumeSession({ sessionId }));
    },
  };
}

/** The process of a confined command that has written its pid there. */
async function leftIn(own: string): Promise<number> {
  const inner = await pidIn(own);
  return await until(() => outside(inner, own), `process ${inner} of the world`);
}

const invalid = (message: string) => ({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(message) });

describe.runIf(isLinux)('sessions', () =>
  inPlaces((place) => {
    const providerOf = (options: HarnessSandboxOptions = {}) => provider(place.target, options);

    describe('a session', () => {
      it('has a folder of its own in dir with a private home, whatever its id', async () => {
        const { dir, create } = providerOf();
        const folders = new Set<string>();
        for (const sessionId of ['a', 'A', '../../x', '/etc', '.', 'é'.repeat(300), undefined]) {
          const { defaultWorkingDirectory: own, run, id } = await create({ ...(sessionId && { sessionId }) });
          if (sessionId) expect(id).toBe(sessionId);
          folders.add(relative(dir, own));
          const { stdout } = await run({ command: 'pwd; echo "$HOME"' });
          expect(stdout).toBe(`${own}\n${own}/.home\n`);
          expect(statSync(own).mode & 0o777).toBe(0o700);
        }
        expect([...folders].sort()).toEqual(readdirSync(dir).sort());
        expect(folders.size).toBe(7);
      });

      it('changes files in its folder alone, and without confinement only if that is said', async () => {
        const other = folder();
        const command = `touch here '${other}/there'`;
        const confined = await (await providerOf().create()).run({ command });
        expect(confined).toMatchObject({ exitCode: 1, confinement: { profile: 'workspace', missing: [] } });
        expect(readdirSync(other)).toEqual([]);
        const free = await providerOf({ confine: 'off' }).create();
        expect(await free.run({ command })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
        expect(readdirSync(other)).toEqual(['there']);
        expect(free).not.toHaveProperty('setNetworkPolicy');
      });

      it('is read by another session unless `read` bounds that', async () => {
        // Not below /tmp, which is private to each session.
        const dir = mkdtempSync(join(homedir(), 'agent-bash-test-'));
        finished(() => remove(dir));
        for (const bounded of [false, true]) {
          const { create } = providerOf({ dir, ...(bounded && { confine: { read: [] } }) });
          const [one, two] = await Promise.all([create(), create()]);
          await one.writeTextFile({ path: 'a', content: 'text' });
          const read = (session: typeof one) => session.run({ command: `cat '${one.defaultWorkingDirectory}/a'` });
          expect(await read(one)).toMatchObject({ exitCode: 0, stdout: 'text' });
          expect(await read(two)).toMatchObject(
            bounded ? { exitCode: 1, stdout: '' } : { exitCode: 0, stdout: 'text' },
          );
        }
      });

      it('is refused for an id that is taken, and is found again by its id', async () => {
        const { dir, create, resume } = providerOf();
        const session = await create({ sessionId: 'one' });
        await session.writeTextFile({ path: 'a', content: 'text' });
        await expect(create({ sessionId: 'one' })).rejects.toMatchObject(invalid('"one"'));
        await expect(resume('two')).rejects.toMatchObject(invalid('"two"'));
        expect(await resume('one')).toBe(session);
        expect(await (await providerOf({ dir }).resume('one')).readTextFile({ path: 'a' })).toBe('text');
        expect(harnessSandbox()).not.toHaveProperty('resumeSession');
      });

      it('ends all that runs at stop, and also its folder at destroy, any number of times', async () => {
        const { dir, create } = providerOf();
        const session = await create();
        const own = session.defaultWorkingDirectory;
        await session.run({ command: HELD_PIPE });
        const left = await leftIn(own);
        const { pid } = await session.spawn({ command: 'sleep 1000' });
        await Promise.all([session.stop(), session.stop()]);
        await gone(left);
        expect(alive(pid)).toBe(false);
        expect(existsSync(join(own, 'pid'))).toBe(true);
        await session.stop();
        await Promise.all([session.destroy(), session.destroy()]);
        expect(readdirSync(dir)).toEqual([]);
        await expect(session.run({ command: 'true' })).rejects.toMatchObject({ code: 'ERR_BASH_CLOSED' });
        await session.stop();
      });

      it('gives its commands alone to others, and knows its ports', async () => {
        const session = await providerOf({ ports: [4100], confine: { expose: [4200, 4100] } }).create();
        expect(Object.keys(session.restricted()).sort()).toEqual(METHODS);
        expect(session.ports).toEqual([4100, 4200]);
        const { url } = await session.getPortEndpoint({ port: 4200 });
        expect(url).toMatch(place.target ? /^http:\/\/127\.0\.0\.1:\d+$/ : /^http:\/\/127\.0\.0\.1:4200$/);
        const socket = await session.getPortUrl({ port: 4200, protocol: 'ws' });
        expect(socket).toBe(url.replace('http', 'ws'));
        await expect(session.getPortEndpoint({ port: 80 })).rejects.toMatchObject(invalid('its ports are 4100, 4200'));
        await expect(session.getPortUrl({ port: 4100, protocol: 'ftp' as never })).rejects.toMatchObject(
          invalid('ftp'),
        );
        expect(session.restricted().description).toContain('4100, 4200');
      });
    });

    describe('onFirstCreate', () => {
      it('runs once for each identity, and no session changes the files of another', async () => {
        const { dir, create } = providerOf({ confine: 'off' });
        const other = providerOf({ dir, confine: 'off' });
        let runs = 0;
        const onFirstCreate: NonNullable<Parameters<typeof create>[0]>['onFirstCreate'] = async (session) => {
          expect(Object.keys(session).sort()).toEqual(METHODS);
          await session.run({
            command: 'mkdir -p sub; echo 1 > sub/a; ln -s a sub/link; chmod 700 sub/a; echo h > ~/h',
          });
          await session.run({ command: 'mkfifo pipe' });
          runs += 1;
        };
        const wanted = { identity: 'one', onFirstCreate };
        const sessions = await Promise.all([create(wanted), other.create(wanted), create(wanted)]);
        expect(runs).toBe(1);
        await sessions[0].run({ command: 'echo 2 > sub/link; rm ~/h' });
        for (const session of [...sessions.slice(1), await create({ identity: 'one' })]) {
          expect((await session.run({ command: 'cat sub/link ~/h; stat -c %a sub/a; ls' })).stdout).toBe(
            '1\nh\n700\nsub\n',
          );
        }
        await create({ ...wanted, identity: 'two' });
        await create({ onFirstCreate });
        expect(runs).toBe(3);
      });

      it('leaves nothing if it throws or is aborted, and runs again for the next session', async () => {
        const { dir, create } = providerOf();
        const abort = new AbortController();
        let child = 0;
        const failing = create({
          ...{ sessionId: 'one', identity: 'one', abortSignal: abort.signal },
          async onFirstCreate(session, { abortSignal }) {
            expect(abortSignal).toBe(abort.signal);
            const { pid } = await session.spawn({ command: 'sleep 1000' });
            child = pid;
            abort.abort(new Error('no more'));
          },
        });
        await expect(failing).rejects.toThrow('no more');
        expect(alive(child)).toBe(false);
        const broken = create({ identity: 'one', onFirstCreate: () => Promise.reject(new Error('broken')) });
        await expect(broken).rejects.toThrow('broken');
        expect(readdirSync(dir)).toEqual([]);
        await create({ sessionId: 'one', identity: 'one', onFirstCreate: async () => {} });
      });

      it('takes a claim from another container once that shows no sign of life for a minute', async () => {
        const first = providerOf({ confine: 'off' });
        const claims = () => readdirSync(first.dir).filter((name) => name.endsWith('.claim'));
        let claimed: string[] = [];
        const onFirstCreate = async () => {
          claimed = claims();
        };
        await first.create({ identity: 'one', onFirstCreate });
        expect([claimed.length, claims()]).toEqual([1, []]);

        const { dir, create } = providerOf({ confine: 'off' });
        const claim = join(dir, claimed[0] as string);
        const theirs = join(claim, 'making-1.0001.000000-theirs');
        mkdirSync(theirs, { recursive: true });
        const making = create({ identity: 'one', onFirstCreate });
        const own = () =>
          readdirSync(dir).find((name) => name.startsWith('making-') && existsSync(join(dir, name, name)));
        const staging = join(dir, await until(own, 'the claim that waits'));
        // Each look at the claim of another one is a sign of its own.
        const looked = async (before = statSync(staging).mtimeMs) =>
          await until(() => statSync(staging).mtimeMs > before, 'another look');
        await looked();
        await looked();
        expect(readdirSync(claim)).toEqual([basename(theirs)]);
        const earlier = new Date(Date.now() - 61_000);
        utimesSync(claim, earlier, earlier);
        expect((await (await making).run({ command: 'ls -A' })).stdout).toBe('.home\n');
        expect(existsSync(claim)).toBe(false);
      });
    });

    describe('the network policy', () => {
      it('ends what runs when it changes, holds for later commands, and is kept for a resume', async () => {
        const { dir, create, resume } = providerOf();
        const session = await create({ sessionId: 'one' });
        const own = session.defaultWorkingDirectory;
        const spawned = await session.spawn({ command: WITH_CHILD });
        const child = await leftIn(own);
        await session.setNetworkPolicy?.({ mode: 'allow-all' });
        expect(alive(child)).toBe(true);
        const changing = session.setNetworkPolicy?.({ mode: 'deny-all' });
        const later = session.run({ command: 'true' });
        await changing;
        expect(alive(child)).toBe(false);
        expect((await spawned.wait()).exitCode).toBe(130);
        expect((await later).confinement?.held).toContain('network');
        await session.stop();
        expect(await resume('one')).toBe(session);
        const again = await providerOf({ dir }).resume('one');
        expect((await again.run({ command: 'true' })).confinement?.held).toContain('network');
        const free = providerOf({ dir, confine: 'off' });
        await expect(free.resume('one')).rejects.toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
      });

      it.each<[string, HarnessV1NetworkPolicy, string]>([
        ['a mode that is not there', { mode: 'none' as never }, 'ERR_BASH_INVALID_ARG'],
        ['no list', { mode: 'custom', allowedHosts: 'a.example' as never }, 'ERR_BASH_INVALID_ARG'],
        ['a URL as a host', { mode: 'custom', allowedHosts: ['https://a.example'] }, 'ERR_BASH_CONFINEMENT'],
        ['a network that is none', custom(['a.example'], ['10.0.0.0/33']), 'ERR_BASH_INVALID_ARG'],
        ['a denied network of the internet', custom(['a.example'], ['8.8.8.0/24']), 'ERR_BASH_UNSUPPORTED'],
        ['a denied network around a private one', custom(['a.example'], ['10.0.0.0/7']), 'ERR_BASH_UNSUPPORTED'],
        ['a part of an allowed network', custom(['10.0.0.0/8:5432'], ['10.1.0.0/16']), 'ERR_BASH_UNSUPPORTED'],
        ['a part of all addresses', custom(['::/0'], ['fc00::/7']), 'ERR_BASH_UNSUPPORTED'],
      ])('refuses %s, and nothing changes', async (_, policy, code) => {
        const session = await providerOf({ networkPolicy: { mode: 'deny-all' } }).create();
        const { pid } = await session.spawn({ command: 'sleep 1000' });
        await expect(session.setNetworkPolicy?.(policy)).rejects.toMatchObject({ code });
        expect(alive(pid)).toBe(true);
        expect((await session.run({ command: 'true' })).confinement?.held).toContain('network');
      });

      it('has no denied addresses, neither in its lists nor in hosts', () => {
        const hosts = { 'db.test': '10.1.2.3', 'far.test': '192.168.0.1' };
        const allowed = [
          '*.test',
          '10.1.2.0/24',
          '[::ffff:10.1.2.3]:443',
          '10.9.9.9:22',
          '11.0.0.0/8:22',
          '[fd00::1]:1',
        ];
        const policy = custom(allowed, ['10.0.0.0/8', '::1/128', '169.254.169.254/32', 'fd00::/16']);
        const allow = ['*.test', '11.0.0.0/8:22', '8.8.8.0/24'];
        const given = { ...policy, allowedCIDRs: ['8.8.8.0/24'] } as HarnessV1NetworkPolicy;
        expect(reachedUnder(given, { allow: [], hosts })).toEqual({ allow, hosts: { 'far.test': '192.168.0.1' } });
        expect(reachedUnder(policy, 'none')).toMatchObject({ hosts: {} });
      });
    });
  }),
);

function custom(allowedHosts: string[], deniedCIDRs: string[]): HarnessV1NetworkPolicy {
  return { mode: 'custom', allowedHosts, deniedCIDRs };
}

it('what cannot be is refused at once', () => {
  const unsupported = 'ERR_BASH_UNSUPPORTED';
  const wrong = 'ERR_BASH_INVALID_ARG';
  const policy: HarnessV1NetworkPolicy = { mode: 'deny-all' };
  refuses(() => harnessSandbox({ port: [1] } as never), wrong, 'did you mean "ports"');
  refuses(() => harnessSandbox({ confine: { hid: [] } } as never), wrong, 'did you mean "confine.hide"');
  refuses(() => harnessSandbox({ ports: [70_000] }), wrong, 'ports');
  refuses(() => harnessSandbox({ dir: '' }), wrong, 'dir');
  refuses(() => harnessSandbox({ timeoutMs: -1 }), wrong, 'timeoutMs');
  refuses(() => harnessSandbox({ cwd: '/srv' }), unsupported, 'a folder of its own');
  refuses(() => harnessSandbox({ confine: 'off', networkPolicy: policy }), unsupported, 'confine: "off"');
  refuses(() => harnessSandbox({ confine: { network: 'none' }, networkPolicy: policy }), wrong, 'networkPolicy');
  refuses(() => harnessSandbox({ networkPolicy: { mode: 'some' as never } }), wrong, 'allow-all, deny-all, custom');
});

it.runIf(isLinux)('without dir the folder is a temporary one', async () => {
  const parent = folder();
  mkdirSync(join(parent, 'tmp'));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = join(parent, 'tmp');
  finished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  const sandbox = harnessSandbox();
  expect(readdirSync(join(parent, 'tmp'))).toEqual([]);
  const session = await sandbox.createSession();
  expect(session.defaultWorkingDirectory.startsWith(join(parent, 'tmp', 'agent-bash-dir-'))).toBe(true);
  await session.writeTextFile({ path: 'a', content: 'text' });
  await session.stop();
  expect(readFileSync(join(session.defaultWorkingDirectory, 'a'), 'utf8')).toBe('text');
  const other = await sandbox.createSession();
  await session.destroy();
  expect(existsSync(session.defaultWorkingDirectory)).toBe(false);
  expect(existsSync(other.defaultWorkingDirectory)).toBe(true);
  await other.destroy();
  expect(readdirSync(join(parent, 'tmp')), 'it goes with its last session').toEqual([]);
  const next = await sandbox.createSession();
  expect(await next.run({ command: 'pwd' })).toMatchObject({ stdout: `${next.defaultWorkingDirectory}\n` });
  await next.destroy();
  await expect(sandbox.createSession({ abortSignal: AbortSignal.abort() })).rejects.toThrow();
  expect(readdirSync(join(parent, 'tmp'))).toEqual([]);
});

describe.runIf(isLinux)('on a target', () => {
  const server = (port: number, word: string) =>
    `exec '${process.execPath}' -e 'require("http").createServer((_, r) => r.end("${word}")).listen(${port}, "127.0.0.1", () => console.log("up"))'`;
  const up = async (session: Awaited<ReturnType<ReturnType<typeof provider>['create']>>, word: string) => {
    const { stdout } = await session.spawn({ command: server(session.ports[0] as number, word) });
    await stdout.getReader().read();
  };
  const said = async (session: Awaited<ReturnType<ReturnType<typeof provider>['create']>>) => {
    const url = await session.getPortUrl({ port: session.ports[0] as number });
    return (await fetch(url, { headers: { connection: 'close' } })).text();
  };

  it.each<[string, HarnessV1NetworkPolicy]>([
    ['the whole network', { mode: 'allow-all' }],
    ['no network', { mode: 'deny-all' }],
  ])('a server is reached through a port of this machine until the session stops, with %s', async (_, policy) => {
    const { target, home } = await place();
    const ports = [await freePort()];
    const { create } = provider(target, { dir: join(home, 'agents'), ports, networkPolicy: policy });
    const session = await create({ sessionId: 'one' });
    await up(session, 'first');
    expect(await said(session)).toBe('first');
    const { url } = await session.getPortEndpoint({ port: ports[0] as number });
    await session.stop();
    await expect(fetch(url)).rejects.toThrow();
    await up(session, 'second');
    expect(await said(session)).toBe('second');
    await session.setNetworkPolicy?.({ mode: 'custom', allowedHosts: ['a.example'] });
    await up(session, 'third');
    expect(await said(session)).toBe('third');
    await session.destroy();
  });

  it('a port under a policy is free for another session, and for another policy', async () => {
    const { target, home } = await place();
    const setting = { dir: join(home, 'agents'), ports: [await freePort()] };
    const { create } = provider(target, { ...setting, networkPolicy: { mode: 'deny-all' } });
    for (const word of ['first', 'second', 'third']) {
      const session = await create();
      await up(session, word);
      expect(await said(session)).toBe(word);
      await session.setNetworkPolicy?.({ mode: 'custom', allowedHosts: [`${word}.example`] });
      await up(session, `${word} again`);
      expect(await said(session)).toBe(`${word} again`);
      await session.destroy();
    }
  });

  it('a session is found again by another host, with its policy', async () => {
    const one = await place();
    const dir = join(one.home, 'agents');
    const session = await provider(one.target, { dir }).create({ sessionId: 'one' });
    await session.setNetworkPolicy?.({ mode: 'deny-all' });
    await session.run({ command: 'echo kept > file; echo kept > ~/file' });
    await session.stop();
    const { target } = await place();
    const again = await provider(target, { dir }).resume('one');
    expect(again.defaultWorkingDirectory).toBe(session.defaultWorkingDirectory);
    const { stdout, confinement } = await again.run({ command: 'cat file ~/file' });
    expect(stdout).toBe('kept\nkept\n');
    expect(confinement?.held).toContain('network');
    await expect(provider(target, { dir }).create({ sessionId: 'one' })).rejects.toMatchObject(invalid('"one"'));
  });

  it('without dir the folder is a temporary one there, which goes with its last session', async () => {
    const { target, home } = await place();
    const sandbox = harnessSandbox({ target });
    expect(sandbox).not.toHaveProperty('resumeSession');
    const [one, two] = await Promise.all([sandbox.createSession(), sandbox.createSession()]);
    const dirs = () => readdirSync(home).filter((name) => name.startsWith('agent-bash-dir-'));
    expect(dirs()).toHaveLength(1);
    expect(one.defaultWorkingDirectory.startsWith(join(home, dirs()[0] as string))).toBe(true);
    await one.destroy();
    expect((await two.run({ command: 'pwd' })).stdout).toBe(`${two.defaultWorkingDirectory}\n`);
    await two.destroy();
    expect(dirs()).toEqual([]);
  });

  it('a session goes on after a cut, and its folder is there after a loss', async () => {
    const { target, home, cut, down } = await place({ detachMs: 1_000 });
    const session = await provider(target, { dir: join(home, 'agents') }).create({ sessionId: 'one' });
    const running = session.run({ command: 'echo begun > begun; until [ -e go ]; do sleep 0.01; done; echo over' });
    await until(() => existsSync(join(session.defaultWorkingDirectory, 'begun')));
    cut();
    await state(target, 'disconnected');
    await session.writeTextFile({ path: 'go', content: '' });
    expect(await running).toMatchObject({ exitCode: 0, stdout: 'over\n' });
    const lost = await session.spawn({ command: 'sleep 1000' });
    down(true);
    cut();
    expect(await lost.wait()).toMatchObject({ exitCode: 255, lost: true });
    down(false);
    expect(await session.readTextFile({ path: 'begun' })).toBe('begun\n');
  });
});
