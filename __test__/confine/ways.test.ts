import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BashOptions, BashResult, ConfineOptions, ConfinePart } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, type HostOptions, hostResult, linuxTest, mark, packageRoot, until } from '../support/index.ts';
import { lasting } from './support/ground.ts';

const CONTAINER = join(packageRoot, '__test__/confine/support/container.py');
/** Starts the host like a container's runtime, whose filter refuses these calls besides. */
const container = (...refused: string[]): HostOptions => ({
  before: `exec python3 ${CONTAINER} ${refused.map((name) => `-${name}`).join(' ')} "$@"`,
});
const OFF: HostOptions = { env: { AGENT_BASH_NAMESPACES: 'off' } };

interface Refused {
  code: string;
  missing: { part: ConfinePart; why: string; remedy: string }[];
}

/** Runs commands in a host of their own. */
const run = <T = BashResult>(how: HostOptions, commands: string[], options: BashOptions) =>
  hostResult<T[]>(
    `const seen = [];
     for (const command of ${JSON.stringify(commands)}) {
       const options = { timeoutMs: 20_000, ...${JSON.stringify(options)} };
       seen.push(await bash(command, options).catch(({ code, missing }) => ({ code, missing })));
     }
     console.log(JSON.stringify(seen));`,
    how,
  );

const ALL: ConfinePart[] = ['files', 'network', 'processes', 'syscalls'];
const NOTHING: ConfineOptions = { require: [] };
const SECCOMP = 'seccomp';
/** Without it a listener resolves no path below an open directory. */
const OPENAT2 = 'openat2';
const LANDLOCK = 'landlock_create_ruleset';
const MEMORY = 'process_vm_readv';

describe('the ways without namespaces', () => {
  linuxTest.each<[what: string, how: HostOptions, way: string, held: ConfinePart[], note: RegExp]>([
    ['AGENT_BASH_NAMESPACES=off', OFF, 'listener', ALL, /^TMPDIR names a private directory/],
    ['a container like Docker', container(), 'listener', ALL, /^TMPDIR names a private directory/],
    ['a container without Landlock', container(LANDLOCK), 'listener', ALL, /^there is no second guard/],
    ['a container without openat2', container(OPENAT2), 'landlock', ['syscalls'], /^Landlock alone confines/],
    ['a container without a listener', container(MEMORY), 'landlock', ['syscalls'], /denials are not reported/],
    ['a container with neither', container(MEMORY, LANDLOCK), 'filter', ['syscalls'], /^no file is confined/],
    ['a container without seccomp', container(SECCOMP), 'landlock', [], /^Landlock alone confines the files/],
    ['a container without both', container(SECCOMP, LANDLOCK), 'none', [], /^nothing confines the command/],
  ])('%s', async (_, how, way, held, note) => {
    const cwd = folder();
    const [open] = await run(how, ['echo hi >x; cat x; unshare -U echo escaped'], { cwd, confine: NOTHING });
    expect(open?.stdout.startsWith('hi\n')).toBe(true);
    expect(open?.confinement).toMatchObject({ way, held, write: [cwd] });
    expect(open?.confinement?.missing.map(({ part }) => part)).toEqual(ALL.filter((part) => !held.includes(part)));
    expect(open?.notes).toContainEqual(expect.stringMatching(note));
    // Without a part that was asked for, nothing starts.
    const [asked] = await run<Partial<Refused>>(how, ['touch made'], { cwd, confine: 'workspace' });
    const isWhole = held.length === ALL.length;
    expect(asked?.code).toBe(isWhole ? undefined : 'ERR_BASH_CONFINEMENT');
    expect(asked?.missing ?? []).toEqual(open?.confinement?.missing);
    for (const { why, remedy } of asked?.missing ?? []) expect([why, remedy]).not.toContain('');
    expect(existsSync(join(cwd, 'made'))).toBe(isWhole);
  });

  linuxTest('a part that is held can be required alone', async () => {
    const confine: ConfineOptions = { require: ['syscalls'] };
    const [held] = await run(OFF, ['unshare -U true'], { cwd: folder(), confine });
    expect(held?.confinement?.denied).toMatchObject([{ kind: 'syscall', target: 'unshare', program: 'unshare' }]);
    const [silent] = await run(container(MEMORY), ['unshare -U echo escaped'], { cwd: folder(), confine });
    expect([silent?.stdout, silent?.exitCode, silent?.confinement?.denied]).toEqual(['', 1, []]);
  });

  linuxTest('missing parts name the variable', async () => {
    const how = { ...container(OPENAT2), ...OFF };
    const [refused] = await run<Refused>(how, ['true'], { cwd: folder(), confine: 'workspace' });
    const why = 'namespaces are turned off by AGENT_BASH_NAMESPACES=off';
    expect(refused?.missing[0]).toEqual({ part: 'files', why, remedy: 'unset that variable' });
  });
});

const MEET = (path: string) =>
  `python3 -c 'import socket; s = socket.socket(1); s.bind(${path}); c = socket.socket(1); s.listen(); c.connect(${path}); print("met")'`;

describe("way 'listener'", () => {
  linuxTest('a denied change is told, with its grant', async () => {
    const [cwd, out] = [folder(), lasting()];
    const [result] = await run(OFF, [`echo x >${out}/fresh`], { cwd, confine: 'workspace' });
    const denial = { kind: 'write', target: join(out, 'fresh'), program: 'bash', count: 1, grant: { write: [out] } };
    expect(result?.confinement?.denied).toEqual([denial]);
  });

  linuxTest('sockets by path work in write roots and in TMPDIR alone, and abstract ones not at all', async () => {
    const [cwd, out] = [folder(), lasting()];
    const commands = ['"own"', '__import__("os").environ["TMPDIR"] + "/x"', `"${out}/x"`, `"\\0x${mark()}"`].map(MEET);
    const [own, temporary, outside, abstract] = await run(OFF, commands, { cwd, confine: 'workspace' });
    expect([own, temporary, outside, abstract].map((result) => result?.stdout)).toEqual(['met\n', 'met\n', '', '']);
    expect(outside?.confinement?.denied).toMatchObject([{ kind: 'write', target: join(out, 'x') }]);
    expect(abstract?.confinement?.denied).toMatchObject([{ kind: 'network' }]);
  });

  linuxTest('a program that was just written can be executed', async () => {
    const loop = 'for n in {1..200}; do cp /bin/true "t$n" && ./t$n || exit 1; done; echo all';
    const [result] = await run(OFF, [loop], { cwd: folder(), confine: 'workspace' });
    expect([result?.stdout, result?.stderr]).toEqual(['all\n', '']);
  });

  linuxTest('a process stays readable for its listener, whatever it asks for', async () => {
    const asks = `python3 -c 'import ctypes; c = ctypes.CDLL(None); print(c.prctl(4, 0, 0, 0, 0), c.prctl(3), open("x", "w").write("x"))'`;
    const [result] = await run(OFF, [asks], { cwd: folder(), confine: 'workspace' });
    expect(result?.stdout).toBe('0 1 1\n');
  });

  linuxTest('new files have the umask of their maker', async () => {
    const script = 'umask 077; echo x >a; mkdir b; (umask 002; echo x >c; mkdir d); stat -c "%a %n" a b c d';
    const [result] = await run(OFF, [script], { cwd: folder(), confine: 'workspace' });
    expect(result?.stdout).toBe('600 a\n700 b\n664 c\n775 d\n');
  });

  linuxTest('a command has no capability, as root neither', async () => {
    const [result] = await run(OFF, ['grep -h Cap /proc/self/status'], { cwd: folder(), confine: 'workspace' });
    expect(result?.stdout).toMatch(/CapPrm:\t0+\nCapEff:\t0+\n/);
  });

  linuxTest('paths that mean the caller are those of the caller', async () => {
    const own = 'import os; print(open("/proc/self/stat").read().split()[0] == str(os.getpid()))';
    const script = [
      `python3 -c '${own}'`,
      'cd /proc && [ "$(cut -d" " -f1 self/stat)" != "$$" ] && echo relative',
      'cat /etc/mtab >/dev/null && echo mtab',
      'exec 7<<<"seven"; cat /dev/fd/7; echo six >/dev/stdout; ls /dev/fd | tr "\\n" " "',
    ];
    const [result] = await run(OFF, [script.join('\n')], { cwd: folder(), confine: 'workspace' });
    expect(result?.stdout).toBe('True\nrelative\nmtab\nseven\nsix\n0 1 2 3 7 ');
  });

  linuxTest('commands run in warm shells, as with namespaces', async () => {
    const used = await hostResult<[boolean, number, string]>(
      `import { warmShells, warmUp } from 'agent-bash';
       const options = { cwd: ${JSON.stringify(folder())}, confine: 'workspace' };
       const isWarm = await warmUp(options);
       const { stdout } = await bash('echo warm >x; cat x', options);
       console.log(JSON.stringify([isWarm, warmShells().used, stdout]));`,
      OFF,
    );
    expect(used).toEqual([true, 1, 'warm\n']);
  });

  linuxTest.each([
    ['with Landlock', OFF],
    ['without', container(LANDLOCK)],
  ])('files are moved into directories, which programs open as places first: %s', async (_, how) => {
    const places =
      'import os; print([sorted(os.listdir(f"/proc/self/fd/{os.open(p, os.O_PATH)}")) for p in ("a/b", "a")])';
    const script = `mkdir -p a/b; touch x y; mv x a/b/ && cp y a/b && mv y a && python3 -c '${places}'`;
    const [result] = await run(how, [script], { cwd: folder(), confine: 'workspace' });
    expect([result?.stdout, result?.stderr]).toEqual(["[['x', 'y'], ['b', 'y']]\n", '']);
  });

  linuxTest.each([
    ['with Landlock', OFF],
    ['without', container(LANDLOCK)],
  ])('no file that another process has open can be had as a place: %s', async (_, how) => {
    const places = `import os
for pid in (${process.pid}, ${process.ppid}, os.getppid()):
    for number in range(3):
        try: print(os.open(f"/proc/{pid}/fd/{number}", os.O_PATH), pid, number)
        except OSError: pass`;
    const script = `python3 -c '${places}'`;
    const [result] = await run(how, [`exec ${script}`], { cwd: folder(), confine: 'workspace' });
    expect([result?.stdout, result?.stderr, result?.exitCode]).toEqual(['', '', 0]);
  });

  linuxTest.each([
    ['of the port that it asked for', OFF, 3210],
    ['of its real port, where its socket cannot be had', container(), 0],
  ])('a server learns its address, and is reached there: %s', async (_, how, port) => {
    const lines = [
      'import socket',
      's = socket.create_server(("127.0.0.1", 3210))',
      'name = s.getsockname()',
      'for place in [name, ("localhost", 3210)]:',
      '    c = socket.create_connection(place); print(c.getpeername() == name)',
      'print(name[1])',
    ];
    const [result] = await run(how, [`python3 -c '${lines.join('\n')}'`], { cwd: folder(), confine: 'workspace' });
    const [first, second, number] = result?.stdout.split('\n') ?? [];
    expect([first, second, result?.stderr]).toEqual(['True', 'True', '']);
    expect(port === 0 || number === `${port}`).toBe(true);
  });

  linuxTest('its listener is an ancestor of each command, as Yama wants it', async () => {
    const above = await hostResult<string[]>(
      `import { readFileSync } from 'node:fs';
       import { BackgroundRegistry } from 'agent-bash';
       const registry = new BackgroundRegistry();
       const { pid } = await registry.start('sleep 60; :', { cwd: ${JSON.stringify(folder())}, confine: 'workspace' });
       const names = [];
       for (let at = pid; at !== process.pid && at > 1; ) {
         const [, name, parent] = /\\((.*)\\) . (\\d+)/.exec(readFileSync('/proc/' + at + '/stat', 'utf8'));
         names.push(name);
         at = Number(parent);
       }
       await registry.close();
       console.log(JSON.stringify(names));`,
      OFF,
    );
    expect(above).toEqual(['bash', 'agent-bash-supe', 'agent-bash-list', 'agent-bash-supe']);
  });

  linuxTest('nothing of a world is left', async () => {
    const [tmp] = await run(OFF, ['echo x >$TMPDIR/x; mkdir -p $TMPDIR/a/b'], { cwd: folder(), confine: 'workspace' });
    const place = tmp?.confinement?.tmp ?? '';
    expect(place).toMatch(/\/world-\w+\/tmp$/);
    await until(() => !existsSync(dirname(place)), 'the private files are gone');
  });

  linuxTest('a receipt is exact, and a run is undone', async () => {
    const [cwd, dir] = [lasting(), folder()];
    writeFileSync(join(cwd, 'old'), 'old');
    const seen = await hostResult<{ state: string; covers: string }>(
      `import { undo } from 'agent-bash';
       const options = { cwd: ${JSON.stringify(cwd)}, confine: 'workspace', receipt: 'exact' };
       const dir = ${JSON.stringify(dir)};
       const { runId, receipt, ...run } = await bash('echo new >old; echo x >made; chmod 600 old', {
         ...options, undo: { when: 'always', dir },
       });
       const { created, modified } = receipt;
       await undo(runId, { dir });
       console.log(JSON.stringify({
         state: receipt.state, covers: run.undo.covers, changed: [...created, ...modified].map(({ path }) => path),
       }));`,
      OFF,
    );
    expect(seen).toEqual({ state: 'known', covers: 'all', changed: [join(cwd, 'made'), join(cwd, 'old')] });
    expect([readFileSync(join(cwd, 'old'), 'utf8'), existsSync(join(cwd, 'made'))]).toEqual(['old', false]);
  });
});

describe("way 'landlock'", () => {
  linuxTest.each([
    ['with a listener', container(OPENAT2)],
    ['without', container(MEMORY)],
  ])('contents and names outside cannot be changed: %s', async (_, how) => {
    const [cwd, out] = [lasting(), lasting()];
    writeFileSync(join(out, 'canary'), 'original');
    mkdirSync(join(out, 'directory'));
    const attempts = [
      ...['echo x >canary', 'echo x >fresh', 'truncate -s 0 canary', 'rm canary', 'mkdir fresh', 'rmdir directory'],
      ...['ln -s x fresh', `ln ${cwd}/own fresh`, 'mv canary fresh', `mv ${cwd}/own fresh`, `mv canary ${cwd}/`],
      ...['mkfifo fresh', `python3 -c 'import socket; socket.socket(1).bind("fresh")'`],
    ];
    const commands = attempts.map((attempt) => `echo x >own; cd ${out} && ${attempt}`);
    const results = await run(how, commands, { cwd, confine: NOTHING });
    for (const [at, { exitCode }] of results.entries()) expect([attempts[at], exitCode]).not.toContain(0);
    expect(readFileSync(join(out, 'canary'), 'utf8')).toBe('original');
    expect(existsSync(join(out, 'directory')) && !existsSync(join(out, 'fresh'))).toBe(true);
  });

  linuxTest('sockets by path work in write roots', async () => {
    const [result] = await run(container(MEMORY), [MEET('"own"')], { cwd: folder(), confine: NOTHING });
    expect(result?.stdout).toBe('met\n');
  });

  const TCP = `python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.create_connection(s.getsockname(), 5); print("met")'`;

  linuxTest.each([
    ['with a listener', container(OPENAT2)],
    ['without a listener', container(MEMORY)],
  ])('TCP is refused or works, as the notes say: %s', async (_, how) => {
    const [closed] = await run(how, [TCP], { cwd: folder(), confine: NOTHING });
    const isRefused = closed?.notes.includes('TCP is refused altogether, the loopback included');
    expect(closed?.stdout).toBe(isRefused ? '' : 'met\n');
    const [open] = await run(how, [TCP], { cwd: folder(), confine: { ...NOTHING, network: 'full' } });
    expect([open?.stdout, open?.notes.join().includes('TCP')]).toEqual(['met\n', false]);
  });

  linuxTest('TCP works without Landlock', async () => {
    const [result] = await run(container(MEMORY, LANDLOCK), [TCP], { cwd: folder(), confine: NOTHING });
    expect([result?.stdout, result?.confinement?.denied]).toEqual(['met\n', []]);
  });

  linuxTest('sessions, tasks, terminals and limits are as with namespaces', async () => {
    const cwd = folder();
    const found = await hostResult<Record<string, unknown>>(
      `import { BackgroundRegistry, BashSession, PtySession } from 'agent-bash';
       const options = { cwd: ${JSON.stringify(cwd)}, confine: { require: [] } };
       const session = new BashSession(options);
       await session.run('x=1; cd /; f() { echo "$x $PWD"; }');
       const kept = (await session.run('f')).stdout;
       const registry = new BackgroundRegistry();
       const { id } = await registry.start('echo task; echo no >/usr/x', options);
       const task = await registry.wait(id);
       const terminal = new PtySession(options);
       await terminal.start('tty -s && echo terminal >/dev/tty');
       const { stdout } = await terminal.result();
       const { status } = await bash('while :; do :; done', { ...options, limits: { cpuSeconds: 0.3 } });
       const timed = await bash('sleep 60 & sleep 60', { ...options, timeoutMs: 300, graceMs: 100 });
       console.log(JSON.stringify({
         kept, task: task.confinement.denied.length, terminal: stdout.trim(), status, timed: timed.status,
       }));
       await session.close(); await registry.close();`,
      OFF,
    );
    const ended = { status: expect.not.stringMatching('exited'), timed: 'timed-out' };
    expect(found).toEqual({ kept: '1 /\n', task: 1, terminal: 'terminal', ...ended });
  });
});
