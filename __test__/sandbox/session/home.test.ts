import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/index.ts';
import { isAlive, pidFrom, sessionInFolder, temporaryFolder } from './support.ts';

const root = join(import.meta.dirname, '../../..');

/** The temporary folder of this process for the time of a test. */
async function ownTmpdir(): Promise<string> {
  const folder = await temporaryFolder();
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  return folder;
}

const homesIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('agent-bash-home-'));

async function runHost(TMPDIR: string, code: string): Promise<string> {
  const script = `import { createLocalSandboxSession } from 'agent-bash/sandbox';\n${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    cwd: root,
    env: { ...process.env, TMPDIR },
  });
  return stdout;
}

test('HOME is a private folder, made when the first command needs it, and the same for all', async () => {
  const tmpdir = await ownTmpdir();
  const session = createLocalSandboxSession();
  expect(homesIn(tmpdir)).toEqual([]);
  const { stdout: home } = await session.run({ command: 'echo -n "$HOME"; echo kept >~/file' });
  const [name] = homesIn(tmpdir);
  expect(home).toBe(join(tmpdir, name as string));
  expect(home).not.toBe(homedir());
  expect(statSync(home).mode & 0o777).toBe(0o700);
  const command = await session.spawn({ command: 'cat ~/file' });
  expect(await new Response(command.stdout).text()).toBe('kept\n');
  await session[Symbol.asyncDispose]();
  expect(homesIn(tmpdir)).toEqual([]);
  expect((await session.run({ command: 'ls -A ~' })).stdout).toBe('');
  await session[Symbol.asyncDispose]();
  expect(homesIn(tmpdir)).toEqual([]);
});

test('a command that runs keeps the home of a session that nobody has any more', async () => {
  const tmpdir = await temporaryFolder();
  const out = await runHost(
    tmpdir,
    `const started = await createLocalSandboxSession().spawn({ command: 'read x; test -d "$HOME" && echo there', stdin: true });
    for (let n = 0; n < 20; n++) { globalThis.gc(); await new Promise((next) => setTimeout(next, 10)); }
    const writer = started.stdin.getWriter();
    await writer.close();
    process.stdout.write(await new Response(started.stdout).text());`,
  );
  expect(out).toBe('there\n');
  expect(homesIn(tmpdir)).toEqual([]);
});

test('two sessions have two homes', async () => {
  const { session: first } = await sessionInFolder();
  const { session: second } = await sessionInFolder();
  const [a, b] = await Promise.all([first, second].map((each) => each.run({ command: 'echo $HOME' })));
  expect(a?.stdout).not.toBe(b?.stdout);
  // A value of undefined is as good as none.
  const again = await first.run({ command: 'echo $HOME', env: { HOME: undefined } as never });
  expect(again.stdout).toBe(a?.stdout);
});

test('home is what was asked for, and no other folder is made', async () => {
  const tmpdir = await ownTmpdir();
  const { folder, session } = await sessionInFolder({ home: '/somewhere' });
  expect((await session.run({ command: 'echo $HOME' })).stdout).toBe('/somewhere\n');
  expect(session.description).toContain('HOME is /somewhere.');
  const byEnv = createLocalSandboxSession({ cwd: folder, env: { HOME: '/by-env' } });
  expect((await byEnv.run({ command: 'echo $HOME' })).stdout).toBe('/by-env\n');
  const { session: byCall } = await sessionInFolder();
  expect((await byCall.run({ command: 'echo $HOME', env: { HOME: '/by-call' } })).stdout).toBe('/by-call\n');
  expect(homesIn(tmpdir)).toEqual([]);
});

test('the home goes with the process, and with the last one who could use it', async () => {
  const tmpdir = await temporaryFolder();
  const code = `
    import { readdirSync } from 'node:fs';
    const made = () => readdirSync(${JSON.stringify(tmpdir)}).filter((name) => name.startsWith('agent-bash-home-'));
    const kept = createLocalSandboxSession();
    await kept.run({ command: 'true' });
    await (async () => { await createLocalSandboxSession().run({ command: 'true' }); })();
    console.log(made().length);
    for (let i = 0; i < 200 && made().length > 1; i += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
    console.log(made().length, (await kept.run({ command: 'ls -d ~' })).exitCode);
  `;
  expect(await runHost(tmpdir, code)).toBe('2\n1 0\n');
  expect(homesIn(tmpdir)).toEqual([]);
});

test.each(['SIGKILL', 'SIGTERM', 'SIGABRT'])('the home goes with a host that %s ends', async (signal) => {
  const tmpdir = await temporaryFolder();
  const end = `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1_000);`;
  const code = `
    const session = createLocalSandboxSession();
    await session.run({ command: 'mkdir -p ~/.cache/deep; echo kept >~/.cache/deep/file' });
    const other = createLocalSandboxSession();
    await other.run({ command: 'true' });
    await other[Symbol.asyncDispose]();
    console.log((await session.run({ command: 'echo ~' })).stdout);
    void session.run({ command: 'sleep 1000' });
    ${end}`;
  const { stdout, signal: ended } = await runHost(tmpdir, code).then(
    (stdout) => ({ stdout, signal: null }),
    (error: { stdout: string; signal: string }) => error,
  );
  expect([stdout.trim(), ended]).toEqual([expect.stringContaining('agent-bash-home-'), signal]);
  await until(() => homesIn(tmpdir).length === 0, 'the home is gone');
});

test('a home that a host left, killed with its helpers, is removed by the next one, an hour later', async () => {
  const tmpdir = await temporaryFolder();
  const use = `console.log((await createLocalSandboxSession().run({ command: 'echo "\${HOME##*/}"' })).stdout);`;
  const home = (await runHost(tmpdir, use)).trim();
  const left = home.replace(/[^-]*$/, 'left00');
  const another = home.replace(/\d+-[^-]*$/, `${process.pid}-alive0`);
  for (const name of [left, another]) {
    mkdirSync(join(tmpdir, name));
    writeFileSync(join(tmpdir, name, 'file'), '');
  }
  await runHost(tmpdir, use);
  expect(homesIn(tmpdir).sort()).toEqual([left, another].sort());
  const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
  for (const name of [left, another]) utimesSync(join(tmpdir, name), old, old);
  await runHost(tmpdir, use);
  expect(homesIn(tmpdir)).toEqual([another]);
});

test('disposing ends all that was started, and what that left running', async () => {
  const { folder, session } = await sessionInFolder();
  await session.run({ command: 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >left' });
  const command = await session.spawn({ command: 'echo $$ >pid; sleep 1000' });
  const pids = [await pidFrom(join(folder, 'left')), await pidFrom(join(folder, 'pid'))];
  await session[Symbol.asyncDispose]();
  expect(await command.wait()).toEqual({ exitCode: 130 });
  for (const pid of pids) await until(async () => !(await isAlive(pid)));
  expect((await session.run({ command: 'echo again' })).stdout).toBe('again\n');
});
