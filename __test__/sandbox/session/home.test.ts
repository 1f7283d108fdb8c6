import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { confined, held } from '../../support/confined/index.ts';
import { linuxTest, until } from '../../support/index.ts';
import { isAlive, pidFrom, sessionInFolder, temporaryFolder } from './support.ts';

const root = join(import.meta.dirname, '../../..');

/** The temporary directory of this process for the time of a test. */
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

test('HOME is a private directory, made when the first command needs it, and the same for all', async () => {
  const tmpdir = await ownTmpdir();
  const session = createLocalSandboxSession();
  // It is a part of the confinement, which begins with the session.
  expect(homesIn(tmpdir)).toHaveLength(confined ? 1 : 0);
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

test('a running command keeps the home of a collected session', async () => {
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

test('an explicit home is used, and no other directory is created', async () => {
  const tmpdir = await ownTmpdir();
  const { folder, session } = await sessionInFolder({ home: '/somewhere' });
  expect((await session.run({ command: 'echo $HOME' })).stdout).toBe('/somewhere\n');
  expect(session.description).toContain('HOME is /somewhere.');
  const byEnv = createLocalSandboxSession({ cwd: folder, env: { HOME: '/by-env' } });
  expect((await byEnv.run({ command: 'echo $HOME' })).stdout).toBe('/by-env\n');
  const { session: byCall } = await sessionInFolder();
  expect((await byCall.run({ command: 'echo $HOME', env: { HOME: '/by-call' } })).stdout).toBe('/by-call\n');
  // All confined commands of a session have one world, whatever their own HOME is.
  expect(homesIn(tmpdir).length).toBe(confined ? 1 : 0);
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

/** Homes that are no more than a name, with a file in each. */
function leave(tmpdir: string, names: string[]) {
  for (const name of names) {
    mkdirSync(join(tmpdir, name));
    writeFileSync(join(tmpdir, name, 'file'), '');
  }
}

const use = `console.log((await createLocalSandboxSession().run({ command: 'echo "\${HOME##*/}"' })).stdout);`;

linuxTest('Linux: a home that a host left, killed with its helpers, is removed by the next one', async () => {
  const tmpdir = await temporaryFolder();
  const code = `
    import { execFileSync } from 'node:child_process';
    ${use}
    const helpers = execFileSync('pgrep', ['-P', String(process.pid), 'agent-bash'], { encoding: 'utf8' });
    for (const pid of helpers.trim().split('\\n')) process.kill(Number(pid), 'SIGKILL');
    process.kill(process.pid, 'SIGKILL');`;
  const stdout = await runHost(tmpdir, code).catch((error: { stdout: string }) => error.stdout);
  const left = homesIn(tmpdir);
  expect(left).toEqual([stdout.trim()]);
  // The same pid, but of a process that started at another time, and a home of this process.
  const alive = await ownName();
  const reused = alive.replace(/-home-\d+\./, (start) => `${start}1`);
  leave(tmpdir, [alive, reused]);
  await runHost(tmpdir, use);
  expect(homesIn(tmpdir)).toEqual([alive]);
});

/** A name as this process gives it to a home. */
async function ownName(): Promise<string> {
  const { session } = await sessionInFolder();
  return (await session.run({ command: 'echo -n "${HOME##*/}"' })).stdout;
}

test('a home of another machine or container stays, since its processes cannot be seen from here', async () => {
  const tmpdir = await temporaryFolder();
  // Of the same process, but not the one that its supervisor may still be removing.
  const home = (await runHost(tmpdir, use)).trim().replace(/-\w+$/, '-another');
  const elsewhere = home.replace(/(-home-\d+\.\w+)\..*-/, '$1.000000-');
  const other = 'agent-bash-home-of-somebody';
  leave(tmpdir, [home, elsewhere, other]);
  await runHost(tmpdir, use);
  expect(homesIn(tmpdir).sort()).toEqual([elsewhere, other].sort());
});

test('disposing ends all that was started, and what that left running', async () => {
  const { folder, session } = await sessionInFolder();
  await session.run({ command: 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >left' });
  const command = await session.spawn({ command: 'echo $$ >pid; sleep 1000' });
  const pids = [await pidFrom(join(folder, 'left')), await pidFrom(join(folder, 'pid'))];
  await session[Symbol.asyncDispose]();
  expect(await command.wait()).toEqual({ exitCode: 130, ...held });
  for (const pid of pids) await until(async () => !(await isAlive(pid)));
  expect((await session.run({ command: 'echo again' })).stdout).toBe('again\n');
});
