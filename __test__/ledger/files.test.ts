import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { folder, hostResult, linuxTest, rootTest, until } from '../support/index.ts';
import { Ledger } from './support.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Runs commands in a process of its own; gives all notes and exit codes. A note is for once per process. */
const inHost = (ledger: Ledger, count = 3, before = '') =>
  hostResult<{ notes: string[]; codes: number[] }>(
    `const results = [];
     for (let at = 0; at < ${count}; at++) results.push(await bash('exit ' + at, { ledger: true }));
     console.log(JSON.stringify({ notes: results.flatMap(({ notes }) => notes), codes: results.map(({ exitCode }) => exitCode) }));`,
    { env: ledger.env, before },
  );

describe('the files of the ledger', () => {
  test('are private, one per day, below the state directory', async () => {
    const ledger = new Ledger();
    await ledger.run('true');
    expect(ledger.files()).toEqual([ledger.today()]);
    expect(modeOf(ledger.directory)).toBe(0o700);
    expect(modeOf(dirname(ledger.directory))).toBe(0o700);
    expect(modeOf(ledger.today())).toBe(0o600);
  });

  test('are made private if others may enter their directory', async () => {
    const ledger = new Ledger();
    mkdirSync(ledger.directory, { recursive: true });
    for (const path of [ledger.directory, dirname(ledger.directory)]) chmodSync(path, 0o777);
    writeFileSync(ledger.today(), '');
    chmodSync(ledger.today(), 0o666);
    await ledger.run('true');
    expect([ledger.directory, dirname(ledger.directory), ledger.today()].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
    expect(await ledger.read()).toHaveLength(1);
  });

  linuxTest('that cannot grow, because the host has a limit on files, end no command', async () => {
    const ledger = new Ledger();
    const { notes, codes } = await inHost(ledger, 40, 'ulimit -f 3');
    expect(codes).toEqual(Array.from({ length: 40 }, (_, at) => at));
    expect(notes).toEqual([expect.stringContaining('ledger')]);
  });

  const other = () => join(folder(), 'other');
  const STRANGE: Record<string, (ledger: Ledger) => string | undefined> = {
    'a link': (ledger) => {
      const target = other();
      writeFileSync(target, '');
      symlinkSync(target, ledger.today());
      return target;
    },
    'a link to nothing': (ledger) => {
      const target = other();
      symlinkSync(target, ledger.today());
      return target;
    },
    'a pipe': (ledger) => {
      execFileSync('mkfifo', [ledger.today()]);
      return undefined;
    },
    'a directory': (ledger) => {
      mkdirSync(ledger.today());
      return undefined;
    },
    'a file with a second name': (ledger) => {
      const target = other();
      writeFileSync(target, '');
      linkSync(target, ledger.today());
      return target;
    },
    'a directory that is a link': (ledger) => {
      const target = folder();
      rmSync(ledger.directory, { recursive: true });
      symlinkSync(target, ledger.directory);
      return join(target, 'none');
    },
    'a directory above that is a link': (ledger) => {
      const target = folder();
      rmSync(dirname(ledger.directory), { recursive: true });
      symlinkSync(target, dirname(ledger.directory));
      return join(target, 'none');
    },
  };

  test.each(Object.entries(STRANGE))('are not written to if one is %s, with a note once', async (_, make) => {
    const ledger = new Ledger();
    mkdirSync(ledger.directory, { recursive: true });
    const target = make(ledger);
    const { notes, codes } = await inHost(ledger);
    expect(codes).toEqual([0, 1, 2]);
    expect(notes).toEqual([expect.stringMatching(/^the ledger cannot be written, so entries are missing: /)]);
    if (target && existsSync(target)) expect(readFileSync(target, 'utf8')).toBe('');
    expect(await ledger.read()).toEqual([]);
  });

  rootTest('are not written to if one belongs to another user', async () => {
    for (const path of ['file', 'directory'] as const) {
      const ledger = new Ledger();
      mkdirSync(ledger.directory, { recursive: true });
      writeFileSync(ledger.today(), '');
      chownSync(path === 'file' ? ledger.today() : ledger.directory, 4242, 4242);
      const { notes, codes } = await inHost(ledger);
      expect([codes, notes.length]).toEqual([[0, 1, 2], 1]);
      expect(readFileSync(ledger.today(), 'utf8')).toBe('');
    }
  });

  test('cost the entry and not the command if there is no directory for them', async () => {
    const ledger = new Ledger();
    const blocked = join(ledger.state, 'file');
    writeFileSync(blocked, '');
    const { notes, codes } = await hostResult<{ notes: string[]; codes: number[] }>(
      `const results = [];
       for (let at = 0; at < 3; at++) results.push(await bash('exit ' + at, { ledger: true }));
       console.log(JSON.stringify({ notes: results.flatMap(({ notes }) => notes), codes: results.map(({ exitCode }) => exitCode) }));`,
      { env: { XDG_STATE_HOME: blocked, AGENT_BASH_LEDGER: '' } },
    );
    expect([codes, notes.length]).toEqual([[0, 1, 2], 1]);
  });

  test('are made again if they are removed or moved while a process uses them', async () => {
    const ledger = new Ledger();
    await ledger.run('echo 1');
    rmSync(ledger.today());
    await ledger.run('echo 2');
    expect((await ledger.read()).map(({ command }) => command)).toEqual(['echo 2']);
    renameSync(ledger.directory, join(ledger.state, 'moved'));
    await ledger.run('echo 3');
    expect((await ledger.read()).map(({ command }) => command)).toEqual(['echo 3']);
    rmSync(dirname(ledger.directory), { recursive: true });
    await ledger.run('echo 4');
    expect((await ledger.read()).map(({ command }) => command)).toEqual(['echo 4']);
  });

  test('may hold damaged lines, which cost themselves only and are counted', async () => {
    const ledger = new Ledger();
    await ledger.run('echo 1');
    ledger.damage('nonsense\n{"run":"x","start":{}}\n\n');
    await ledger.run('echo 2');
    ledger.damage('half a li');
    await ledger.run('echo 3');
    ledger.damage(`${'x'.repeat(300_000)}\n\0\0\0\n`);
    await ledger.run('echo 4');
    expect((await ledger.read()).map(({ command }) => command)).toEqual(['echo 4', 'echo 3', 'echo 2', 'echo 1']);
    const { stderr, stdout, code } = await new Program({ XDG_STATE_HOME: ledger.state }).run('log');
    expect(stderr).toBe('agent-bash: 5 damaged lines were skipped\n');
    expect([code, stdout.trim().split('\n').length]).toEqual([0, 4]);
  });

  test('lose one entry for a changed byte, wherever it is', async () => {
    const ledger = new Ledger();
    const runs: string[] = [];
    for (let at = 0; at < 4; at++) runs.push((await ledger.run('sleep 0.01')).runId);
    const text = ledger.text();
    const own = text.split('\n').filter((line) => line.includes(`"${runs[1]}"`));
    for (const line of own) {
      const at = text.indexOf(line) + Math.floor(line.length / 2);
      writeFileSync(ledger.today(), `${text.slice(0, at)}\u0001${text.slice(at + 1)}`);
      const found = await ledger.read();
      const others = found.filter(({ runId }) => runId !== runs[1]);
      expect(others.map(({ runId, state }) => [runId, state])).toEqual(
        [3, 2, 0].map((other) => [runs[other], 'exited']),
      );
    }
  });

  linuxTest(
    'of more than 90 days ago are removed when a process first writes, and the removal is recorded',
    async () => {
      const ledger = new Ledger();
      mkdirSync(ledger.directory, { recursive: true });
      const day = (ago: number) => `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}.jsonl`;
      const others = ['notes.txt', '2020-01-01.jsonl.gz', '2020-13-01.jsonl', '20200101.jsonl'];
      for (const name of [day(400), day(92), day(89), ...others]) writeFileSync(join(ledger.directory, name), 'x\n');
      await inHost(ledger, 1);
      await until(() => !readdirSync(ledger.directory).includes(day(92)), 'the removal');
      const left = readdirSync(ledger.directory);
      expect(left.sort()).toEqual([...others, day(89), day(0)].sort());
      await until(
        () => [400, 92].every((ago) => readFileSync(ledger.today(), 'utf8').includes(day(ago))),
        'the records',
      );
      expect(await ledger.read()).toHaveLength(1);
    },
  );
});
