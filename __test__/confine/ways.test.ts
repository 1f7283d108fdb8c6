import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BashOptions, BashResult, ConfineOptions, ConfinePart } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, type HostOptions, hostResult, linuxTest, mark, packageRoot } from '../support/index.ts';
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

const NOTHING: ConfineOptions = { require: [] };
const SECCOMP = 'seccomp';
const LANDLOCK = 'landlock_create_ruleset';
const MEMORY = 'process_vm_readv';

describe('the ways without namespaces', () => {
  linuxTest.each<[what: string, how: HostOptions, way: string, held: ConfinePart[], note: RegExp]>([
    ['AGENT_BASH_NAMESPACES=off', OFF, 'landlock', ['syscalls'], /^Landlock alone confines the files/],
    ['a container like Docker', container(), 'landlock', ['syscalls'], /^Landlock alone confines the files/],
    ['a container without a listener', container(MEMORY), 'landlock', ['syscalls'], /denials are not reported/],
    ['a container without Landlock', container(LANDLOCK), 'filter', ['syscalls'], /^no file is confined/],
    ['a container without seccomp', container(SECCOMP), 'landlock', [], /^Landlock alone confines the files/],
    ['a container with neither', container(SECCOMP, LANDLOCK), 'none', [], /^nothing confines the command/],
  ])('%s', async (_, how, way, held, note) => {
    const cwd = folder();
    const [open] = await run(how, ['echo hi >x; cat x; unshare -U echo escaped'], { cwd, confine: NOTHING });
    expect(open?.stdout.startsWith('hi\n')).toBe(true);
    expect(open?.confinement).toMatchObject({ way, held, write: [cwd] });
    expect(open?.confinement?.missing.map(({ part }) => part)).toEqual(
      ['files', 'network', 'processes', 'syscalls'].filter((part) => !held.includes(part as ConfinePart)),
    );
    expect(open?.notes).toContainEqual(expect.stringMatching(note));
    // Without a part that was asked for, nothing starts.
    const [refused] = await run<Refused>(how, ['touch made'], { cwd, confine: 'workspace' });
    expect(refused?.code).toBe('ERR_BASH_CONFINEMENT');
    expect(refused?.missing).toEqual(open?.confinement?.missing);
    for (const { why, remedy } of refused?.missing ?? []) expect([why, remedy]).not.toContain('');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  linuxTest('a part that is held can be required alone', async () => {
    const confine: ConfineOptions = { require: ['syscalls'] };
    const [held] = await run(OFF, ['unshare -U true'], { cwd: folder(), confine });
    expect(held?.confinement?.denied).toMatchObject([{ kind: 'syscall', target: 'unshare', program: 'unshare' }]);
    const [silent] = await run(container(MEMORY), ['unshare -U echo escaped'], { cwd: folder(), confine });
    expect([silent?.stdout, silent?.exitCode, silent?.confinement?.denied]).toEqual(['', 1, []]);
  });

  linuxTest('missing parts name the variable', async () => {
    const [refused] = await run<Refused>(OFF, ['true'], { cwd: folder(), confine: 'workspace' });
    const why = 'namespaces are turned off by AGENT_BASH_NAMESPACES=off';
    expect(refused?.missing[0]).toEqual({ part: 'files', why, remedy: 'unset that variable' });
  });
});

describe("way 'landlock'", () => {
  linuxTest.each([
    ['with a listener', OFF],
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

  linuxTest('a denied change is told, with its grant', async () => {
    const [cwd, out] = [folder(), lasting()];
    const [result] = await run(OFF, [`echo x >${out}/fresh`], { cwd, confine: NOTHING });
    const denial = { kind: 'write', target: join(out, 'fresh'), program: 'bash', count: 1, grant: { write: [out] } };
    expect(result?.confinement?.denied).toEqual([denial]);
  });

  linuxTest('sockets by path work in write roots alone, and abstract ones not at all', async () => {
    const cwd = folder();
    const meet = (path: string) =>
      `python3 -c 'import socket; s = socket.socket(1); s.bind(${path}); c = socket.socket(1); s.listen(); c.connect(${path}); print("met")'`;
    const [own, abstract] = await run(OFF, [meet('"own"'), meet(`"\\0x${mark()}"`)], { cwd, confine: NOTHING });
    expect([own?.stdout, abstract?.stdout]).toEqual(['met\n', '']);
    expect(abstract?.confinement?.denied).toMatchObject([{ kind: 'network' }]);
    // A container forbids the listener to duplicate a socket.
    const [inside] = await run(container(), [meet('"own"')], { cwd: folder(), confine: NOTHING });
    expect(inside?.stdout).toBe('met\n');
  });

  const TCP = `python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.create_connection(s.getsockname(), 5); print("met")'`;

  linuxTest.each([
    ['with a listener', OFF],
    ['in a container', container()],
    ['without a listener', container(MEMORY)],
  ])('TCP is refused or works, as the notes say: %s', async (_, how) => {
    const [closed] = await run(how, [TCP], { cwd: folder(), confine: NOTHING });
    const isRefused = closed?.notes.includes('TCP is refused altogether, the loopback included');
    expect(closed?.stdout).toBe(isRefused ? '' : 'met\n');
    const [open] = await run(how, [TCP], { cwd: folder(), confine: { ...NOTHING, network: 'full' } });
    expect([open?.stdout, open?.notes.join().includes('TCP')]).toEqual(['met\n', false]);
  });

  linuxTest('TCP works without Landlock', async () => {
    const [result] = await run(container(LANDLOCK), [TCP], { cwd: folder(), confine: NOTHING });
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
