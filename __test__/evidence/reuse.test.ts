import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BackgroundRegistry,
  type BashOptions,
  type BashResult,
  BashSession,
  bash,
  type ObservedReuse,
} from 'agent-bash';
import { createBashTool, formatResult } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { Ledger } from '../ledger/support.ts';
import { confined, folder, isLinux, rejection, until, WAIT } from '../support/index.ts';

/** A repository, and a program outside of it, `check`, that counts its runs. */
class Fixture {
  readonly root = realpathSync(folder());
  readonly #outside = realpathSync(folder());
  readonly env = { PATH: `${this.#outside}/bin:${process.env.PATH}` };
  readonly reuse = { commands: ['check:*'] };

  constructor() {
    mkdirSync(join(this.#outside, 'bin'));
    const script = `#!/bin/bash\necho x >>${this.#outside}/runs\ncat a; echo warning >&2\neval "$CHECK"\n`;
    writeFileSync(join(this.#outside, 'bin/check'), script, { mode: 0o755 });
    writeFileSync(join(this.#outside, 'runs'), '');
    mkdirSync(join(this.root, 'src'));
    mkdirSync(join(this.root, 'cache'));
    for (const name of ['a', 'b', 'src/a', 'cache/a']) writeFileSync(join(this.root, name), '1\n');
    writeFileSync(join(this.root, '.gitignore'), '/cache/\n');
    this.git('init', '-q', '-b', 'main');
    this.git('add', '.');
    this.git('commit', '-qm', 'one');
    this.git('branch', 'other');
  }

  git(...args: string[]): void {
    const identity = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost'];
    execFileSync('git', [...identity, ...args], { cwd: this.root });
  }

  path(name: string): string {
    return join(this.root, name);
  }

  get runs(): number {
    return readFileSync(join(this.#outside, 'runs'), 'utf8').split('\n').length - 1;
  }

  run(command = 'check', options: BashOptions = {}): Promise<BashResult> {
    return bash(command, { cwd: this.root, env: this.env, reuse: this.reuse, ...options });
  }

  /** Stores a run. The first one only begins to watch the tree, if that takes long. */
  async stored(command = 'check', options: BashOptions = {}): Promise<BashResult> {
    await expect.poll(async () => (await this.run(command, options)).reused, { timeout: WAIT / 2 }).not.toBeNull();
    return this.run(command, { ...options, fresh: true });
  }
}

describe.runIf(isLinux && !confined)('a result is given again', () => {
  test('as it was: output, exit code and evidence, with a run of its own and no process', async () => {
    const fixture = new Fixture();
    const env = { ...fixture.env, CHECK: 'printf "%s" "é no newline"; exit 3' };
    const first = await fixture.stored('check', { env });
    const { runs } = fixture;
    const second = await fixture.run('check', { env });
    expect(fixture.runs).toBe(runs);
    const { runId, pid, durationMs, usage, reused, ...rest } = second;
    expect(pid).toBe(0);
    expect(runId).not.toBe(first.runId);
    expect(reused).toMatchObject({ runId: first.runId, filtered: false });
    expect(Math.abs(Date.now() - Number(reused?.at))).toBeLessThan(60_000);
    expect(reused?.checked.join('; ')).toContain(fixture.root);
    expect(reused?.notChecked.join('; ')).toContain(`files outside of ${fixture.root}`);
    expect({ ...first, ...rest }).toEqual(first);
    expect(rest).toMatchObject({ stdout: '1\né no newline', stderr: 'warning\n', exitCode: 3, status: 'exited' });
    expect(rest.evidence).toMatchObject({ verdict: 'failed', parts: [{ command: 'check', exitCode: 3 }] });
    expect(structuredClone(second)).toEqual(second);
  });

  test('with the options of its own call for output', async () => {
    const fixture = new Fixture();
    const env = { ...fixture.env, CHECK: 'seq 5000; seq 3 >&2' };
    const text = { stdout: '', stderr: '' };
    const options: BashOptions = {
      env,
      truncate: { keep: 'head', maxLines: 2 },
      onOutput: async ({ stream, text: piece }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        text[stream] += piece;
      },
    };
    await fixture.stored('check', { env });
    const first = await fixture.run('check', { ...options, fresh: true });
    const heard = { ...text };
    Object.assign(text, { stdout: '', stderr: '' });
    const second = await fixture.run('check', options);
    expect([first.reused, second.reused?.runId]).toEqual([null, first.runId]);
    expect([second.stdout, second.stderr, text]).toEqual([first.stdout, first.stderr, heard]);
    expect(second.stdout).toMatch(/^1\n1\n/);
    const cuts = [first, second].map(({ truncation: { stdout } }) => ({ ...stdout, path: stdout?.path !== null }));
    expect(cuts[1]).toEqual(cuts[0]);
    expect(text.stdout.split('\n')).toHaveLength(5002);
  });

  test('with the receipt and the undo of a command that changes nothing', async () => {
    const fixture = new Fixture();
    for (const options of [{ undo: 'always' }, { receipt: 'watch' }, { receipt: 'exact', undo: 'always' }] as const) {
      const { receipt, undo } = await fixture.stored('cat a', options);
      // Other processes of this machine may have opened a port meanwhile.
      const changes = receipt && { ...receipt, ports: expect.anything() };
      expect(await fixture.run('cat a', options)).toMatchObject({ receipt: changes, undo, reused: {} });
    }
  });

  test('whatever the time limit is, as it waits for its listener alone', async () => {
    const fixture = new Fixture();
    const env = { ...fixture.env, CHECK: "printf '%0200d\\n' {1..3000}" };
    await fixture.stored('check', { env });
    const onOutput = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
    expect(await fixture.run('check', { env, timeoutMs: 100, onOutput })).toMatchObject({
      status: 'exited',
      exitCode: 0,
      reused: {},
      notes: [],
    });
  });

  test('for each command that only reads, without a rule', async () => {
    const fixture = new Fixture();
    for (const command of ['cat a src/a', 'grep -rn 1 . | sort | head -3', 'ls; cat none']) {
      const first = await fixture.stored(command, { reuse: 'verified' });
      const second = await fixture.run(command, { reuse: 'verified' });
      expect([second.reused?.runId, second.stdout, second.stderr, second.exitCode]).toEqual([
        first.runId,
        first.stdout,
        first.stderr,
        first.exitCode,
      ]);
    }
  });

  test('after other commands that read', async () => {
    const fixture = new Fixture();
    await fixture.stored();
    await bash('cat a >/dev/null; git log >/dev/null; ls -R', { cwd: fixture.root });
    expect((await fixture.run()).reused).not.toBeNull();
  });

  test('and is told of by its channel, the ledger and the first line for a model', async () => {
    const fixture = new Fixture();
    const ledger = new Ledger();
    const begun = performance.now();
    const first = await fixture.stored();
    const seen: ObservedReuse[] = [];
    const others: unknown[] = [];
    const onReuse = (event: unknown) => seen.push(event as ObservedReuse);
    const onOther = (event: unknown) => others.push(event);
    subscribe('agent-bash:reuse', onReuse);
    for (const name of ['agent-bash:start', 'agent-bash:exit']) subscribe(name, onOther);
    const second = await fixture.run('check', { ledger: true });
    unsubscribe('agent-bash:reuse', onReuse);
    for (const name of ['agent-bash:start', 'agent-bash:exit']) unsubscribe(name, onOther);
    const { runId, reused } = second;
    expect(seen).toEqual([{ id: expect.any(String), kind: 'command', command: 'check', runId, exitCode: 0, reused }]);
    expect(others).toEqual([]);
    expect(await ledger.of(second)).toMatchObject({
      command: 'check',
      state: 'exited',
      exitCode: 0,
      evidence: 'passed',
      reused: first.runId,
    });
    const [line = ''] = formatResult(second).split('\n');
    expect(line.replace(/\d+ s ago/, 'N s ago')).toBe(
      `[not run again: nothing changed since run ${first.runId}, N s ago; fresh: true runs it]`,
    );
    const [, seconds] = /(\d+) s ago/.exec(line) ?? [];
    expect(Number(seconds)).toBeLessThanOrEqual(Math.floor((performance.now() - begun) / 1000));
  });
});

describe.runIf(isLinux && !confined)('a command runs', () => {
  /** Runs a stored command once more, and returns whether it ran. */
  const ran = async (fixture: Fixture, command = 'check', options: BashOptions = {}) => {
    const { runs } = fixture;
    const { reused, pid } = await fixture.run(command, options);
    expect(reused === null).toBe(pid !== 0);
    if (command.includes('check')) expect(fixture.runs - runs).toBe(reused === null ? 1 : 0);
    return reused === null;
  };

  const CHANGES: [what: string, change: (fixture: Fixture) => void][] = [
    ['an edit', ({ path }) => writeFileSync(path('a'), '2\n')],
    ['an edit that keeps the content', ({ path }) => writeFileSync(path('a'), '1\n')],
    ['a new file', ({ path }) => writeFileSync(path('new'), '')],
    ['a deletion', ({ path }) => rmSync(path('src/a'))],
    ['another time', ({ path }) => utimesSync(path('b'), 1, 1)],
    ['a change of an ignored file', ({ path }) => writeFileSync(path('cache/a'), '2\n')],
    ['a checkout', (fixture) => fixture.git('checkout', '-q', 'other')],
    ['a commit', (fixture) => fixture.git('commit', '-q', '--allow-empty', '-m', 'two')],
    ['a change of the index', (fixture) => fixture.git('rm', '-q', '--cached', 'b')],
    ['a change of git’s settings', (fixture) => fixture.git('config', 'core.pager', 'cat')],
  ];
  test.each(CHANGES)('after %s', async (_, change) => {
    const fixture = new Fixture();
    fixture.path = fixture.path.bind(fixture);
    await fixture.stored();
    expect(await ran(fixture)).toBe(false);
    change(fixture);
    expect(await ran(fixture)).toBe(true);
    expect(await ran(fixture)).toBe(false);
  });

  const OPTIONS: [what: string, options: (fixture: Fixture) => BashOptions][] = [
    ['fresh', () => ({ fresh: true })],
    ['reuse off', () => ({ reuse: 'off' })],
    ['more checks', () => ({ checks: ['check:*'] })],
    ['another directory', (fixture) => ({ cwd: fixture.path('src') })],
    ['another environment', ({ env }) => ({ env: { ...env, OTHER: '1' } })],
    ['standard input', () => ({ stdin: 'x' })],
    ['arguments', () => ({ args: ['x'] })],
    ['limits', () => ({ limits: { openFiles: 100 } })],
    ['a prefix', () => ({ prefix: 'OTHER=1' })],
    ['both streams in one', () => ({ merge: true })],
    ['another shell', () => ({ shell: '/bin/sh' })],
  ];
  test.each(OPTIONS)('with %s', async (_, options) => {
    const fixture = new Fixture();
    await fixture.stored();
    expect(await ran(fixture)).toBe(false);
    expect(await ran(fixture, 'check', options(fixture))).toBe(true);
  });

  test('with another umask', async () => {
    const fixture = new Fixture();
    await fixture.stored();
    const before = process.umask(0o77);
    const result = fixture.run();
    process.umask(before);
    expect((await result).reused).toBeNull();
  });

  test('without a stored run, and with one that is too old', async () => {
    const fixture = new Fixture();
    expect(await ran(fixture)).toBe(true);
    await fixture.stored();
    const now = Date.now();
    await until(() => Date.now() > now + 1);
    expect(await ran(fixture, 'check', { reuse: { ...fixture.reuse, maxAgeMs: 1 } })).toBe(true);
  });

  const TEXTS = [
    'check; date >/dev/null',
    'check; : $RANDOM',
    'check; head -c1 /dev/urandom >/dev/null',
    'check; ps >/dev/null',
    'check; : curl http://localhost/',
    'check; :>/dev/null; touch cache/a',
    'check >cache/log',
    'check; true & wait',
  ];
  test.each(TEXTS)('each time: %s', async (command) => {
    const fixture = new Fixture();
    await fixture.stored();
    expect([await ran(fixture, command), await ran(fixture, command), await ran(fixture, command)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  const STORED: [what: string, script: string, options?: BashOptions][] = [
    ['changed a file', 'echo 2 >new'],
    ['changed a file and took it back', 'echo 2 >b; echo 1 >b'],
    ['made a file and removed it', 'touch new; rm new'],
    ['ended like a signal', 'exit 139'],
    ['committed', 'git -c user.name=x -c user.email=x@x commit -q --allow-empty -m two'],
    ['left a process', 'sleep 3 >/dev/null 2>&1 &'],
    ['was ended at its limit', 'sleep 30', { timeoutMs: 300 }],
    ['was ended by a signal', 'kill -9 $PPID; sleep 1'],
  ];
  test.each(STORED)('again if the run before %s', async (_, script, options = {}) => {
    const fixture = new Fixture();
    await fixture.stored();
    const env = { ...fixture.env, CHECK: script };
    const seen = [];
    for (let at = 0; at < 3; at++) seen.push((await fixture.run('check', { ...options, env })).reused);
    expect(seen).toEqual([null, null, null]);
  });

  test('if its directory is a link that led elsewhere meanwhile', async () => {
    const [one, two] = [new Fixture(), new Fixture()];
    const link = join(realpathSync(folder()), 'link');
    symlinkSync(one.root, link);
    const env = { ...one.env, CHECK: `ln -sfn ${two.root} ${link}` };
    await one.stored('check', { cwd: link });
    writeFileSync(one.path('a'), '2\n');
    await one.run('check', { cwd: link, env });
    execFileSync('ln', ['-sfn', one.root, link]);
    writeFileSync(one.path('a'), '3\n');
    expect(await one.run('check', { cwd: link, env })).toMatchObject({ reused: null, stdout: '3\n' });
  });

  test('if a command beside it ran while it was stored', async () => {
    const fixture = new Fixture();
    await fixture.stored();
    const env = { ...fixture.env, CHECK: 'until [ -e ../go ]; do sleep .01; done' };
    const outside = join(fixture.root, '../go');
    onTestFinished(() => rmSync(outside, { force: true }));
    const running = fixture.run('check', { env });
    const other = bash('sleep 30', { cwd: fixture.root, signal: AbortSignal.timeout(1_500) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    writeFileSync(outside, '');
    expect((await running).reused).toBeNull();
    await other;
    expect((await fixture.run('check', { env })).reused).toBeNull();
    expect((await fixture.run('check', { env })).reused).not.toBeNull();
  });

  test.each(['cat /etc/hostname', 'cat ../x 2>&1', 'cd / && ls', 'ls ~'])(
    'outside of its tree: %s',
    async (command) => {
      const fixture = new Fixture();
      await fixture.stored();
      const options = { reuse: 'verified' } as const;
      await fixture.run(command, options);
      expect((await fixture.run(command, options)).reused).toBeNull();
    },
  );

  test('in a shell whose parts are not known', async () => {
    const fixture = new Fixture();
    await fixture.stored();
    for (let at = 0; at < 2; at++) expect((await fixture.run('check | cat', { shell: '/bin/sh' })).reused).toBeNull();
  });

  test('while another command or task runs in its tree', async () => {
    const fixture = new Fixture();
    await fixture.stored();
    const registry = new BackgroundRegistry();
    const task = await registry.start('sleep 30', { cwd: fixture.path('src') });
    expect(await ran(fixture)).toBe(true);
    await registry.kill(task);
    expect(await ran(fixture)).toBe(false);
    const controller = new AbortController();
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const other = bash('echo; sleep 30', { cwd: fixture.root, signal: controller.signal, onOutput: () => started() });
    await running;
    expect(await ran(fixture)).toBe(true);
    controller.abort();
    await other;
    expect(await ran(fixture)).toBe(false);
    await registry.close();
  });

  test.each(['check', 'check 2>&1 | tail -n 1'])(
    'if its output or tap was too large for the store: %s',
    async (command) => {
      const fixture = new Fixture();
      const reuse = { ...fixture.reuse, storeBytes: 40_000 };
      const options = { reuse, taps: 'on' } as const;
      await fixture.stored(command, options);
      const env = { ...fixture.env, CHECK: 'seq 5000' };
      await fixture.run(command, { ...options, env });
      expect((await fixture.run(command, { ...options, env })).reused).toBeNull();
    },
  );

  test('and an abort of a result that is given again ends like that of a command', async () => {
    const fixture = new Fixture();
    const env = { ...fixture.env, CHECK: "printf '%0200d\\n' {1..20000}" };
    await fixture.stored('check', { env });
    const controller = new AbortController();
    const { signal } = controller;
    const result = await fixture.run('check', {
      env,
      signal,
      onOutput: () => {
        controller.abort();
        return new Promise((resolve) => setTimeout(resolve, 50));
      },
    });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, reused: null });
    expect(result.evidence?.verdict).toBe('failed');
  });
});

describe.runIf(isLinux && !confined)('a confined command', () => {
  const confine = { profile: 'workspace', network: 'none' } as const;

  test('goes through another filter with the notes of a run', async () => {
    const fixture = new Fixture();
    const options = { reuse: 'verified', confine, taps: 'on' } as const;
    const first = await fixture.stored('make -v 2>&1 | tail -n 1', options);
    const second = await fixture.run('make -v 2>&1 | wc -l', options);
    expect(second).toMatchObject({ notes: first.notes, confinement: first.confinement, reused: { filtered: true } });
  });

  test('runs if it wrote an ignored file, without a rule', async () => {
    const fixture = new Fixture();
    const options = { reuse: 'verified', confine } as const;
    writeFileSync(fixture.path('cache/lock.sh'), 'test ! -e cache/lock || exit 1; touch cache/lock\n');
    await fixture.stored('make -v', options);
    expect(await fixture.run('bash cache/lock.sh', options)).toMatchObject({ reused: null, exitCode: 0 });
    expect(await fixture.run('bash cache/lock.sh', options)).toMatchObject({ reused: null, exitCode: 1 });
  });

  test('is given again without a rule if it reaches no host and writes in the tree alone', async () => {
    const fixture = new Fixture();
    const options = { reuse: 'verified', confine } as const;
    await fixture.stored('make -v; ./none', options);
    expect((await fixture.run('make -v; ./none', options)).reused).not.toBeNull();
    expect((await fixture.run('make -v; ./none', { ...options, confine: undefined })).reused).toBeNull();
    for (const reach of [{ network: 'full' }, { tmp: 'shared' }, { write: [realpathSync(folder())] }]) {
      const other = { ...options, confine: { ...confine, ...reach } as BashOptions['confine'] };
      await fixture.run('make -v; ./none', other);
      expect((await fixture.run('make -v; ./none', other)).reused, JSON.stringify(reach)).toBeNull();
    }
  });
});

describe.runIf(isLinux && !confined)('through another filter', () => {
  const taps = 'on';

  test('what the first program wrote is given again, and the filter runs', async () => {
    const fixture = new Fixture();
    const env = { ...fixture.env, CHECK: 'seq 5; exit 3' };
    const options = { env, taps } as const;
    const first = await fixture.stored('check 2>&1 | tail -n 2', options);
    const { runs } = fixture;
    expect(first).toMatchObject({ stdout: '4\n5\n', exitCode: 0, evidence: { verdict: 'failed' } });
    for (const [filter, stdout, exitCode] of [
      ['grep -c .', '7\n', 0],
      ['head -n 2', '1\nwarning\n', 0],
      ['grep none', '', 1],
      ['while read -r line; do echo "<$line>"; done | head -n 1', '<1>\n', 0],
      ['cat; cat b', null, 0],
    ] as const) {
      const command = `check 2>&1 | ${filter}`;
      const result = await fixture.run(command, options);
      if (stdout === null) {
        // Another shape: `cat b` is behind the pipeline.
        expect(result.reused).toBeNull();
        continue;
      }
      expect(result, command).toMatchObject({ stdout, stderr: '', exitCode, reused: { filtered: true } });
      expect(result.pid).not.toBe(0);
      expect(result.reused?.runId).toBe(first.runId);
      expect(result.evidence).toMatchObject({
        verdict: 'failed',
        parts: [{ command: 'check 2>&1', exitCode: 3, span: [0, 10] }],
        masked: [{ command: 'check 2>&1', exitCode: 3, by: 'pipe', behind: filter }],
        tap: { command: 'check 2>&1', kept: true, complete: true, lines: 7 },
      });
      expect(result.evidence?.tap?.id).not.toBe(first.evidence?.tap?.id);
      expect(readFileSync(String(result.evidence?.tap?.path), 'utf8')).toBe('1\nwarning\n1\n2\n3\n4\n5\n');
    }
    // The command behind the pipeline ran.
    expect(fixture.runs).toBe(runs + 1);
    const text = formatResult(await fixture.run('check 2>&1 | grep -c .', options));
    expect(text).toContain('[hidden failure: «check 2>&1» exit code 3, behind | grep -c .]');
    expect(text).toMatch(/^\[not run again: /);
  });

  test('also that of a command without a filter, and through |&', async () => {
    const fixture = new Fixture();
    const first = await fixture.stored('check 2>&1');
    expect(await fixture.run('check |& head -n 1', { taps })).toMatchObject({
      stdout: '1\n',
      reused: { runId: first.runId, filtered: true },
      evidence: { verdict: 'passed', masked: [] },
    });
  });

  test('in the directory of a cd before it', async () => {
    const fixture = new Fixture();
    writeFileSync(fixture.path('src/a'), 'of src\n');
    await fixture.stored('cd src && check 2>&1');
    expect(await fixture.run('cd src && check 2>&1 | (head -n 1; pwd)')).toMatchObject({
      stdout: `of src\n${fixture.path('src')}\n`,
      reused: { filtered: true },
    });
    expect((await fixture.run('check 2>&1 | head -n 1')).reused).toBeNull();
  });

  test('also in a session, which the filter leaves as it would be', async () => {
    const fixture = new Fixture();
    const session = new BashSession({ cwd: fixture.root, env: fixture.env, reuse: fixture.reuse, taps });
    onTestFinished(() => session.close());
    await session.run('X=1');
    await expect.poll(async () => (await session.run('check 2>&1')).reused, { timeout: WAIT / 2 }).not.toBeNull();
    expect((await session.run('check 2>&1 | tail -n 1')).reused?.filtered).toBe(true);
    expect((await session.run('echo "$X ${PIPESTATUS[0]}"')).stdout).toBe('1 0\n');
    await session.run('set -o pipefail');
    const env = { ...fixture.env, CHECK: 'exit 3' };
    await session.run('check 2>&1', { env });
    await session.run('check 2>&1', { env });
    expect(await session.run('check 2>&1 | cat', { env })).toMatchObject({ reused: null, exitCode: 3 });
  });

  test('is shown, published and written down as a run', async () => {
    const fixture = new Fixture();
    const ledger = new Ledger();
    const first = await fixture.stored('check 2>&1');
    const result = await fixture.run('check 2>&1 | tail -n 1', { ledger: true });
    await expect.poll(async () => (await ledger.of(result)).reused).toBe(first.runId);
    expect(await ledger.of(result)).toMatchObject({ command: 'check 2>&1 | tail -n 1', state: 'exited', exitCode: 0 });
  });

  const RUN: [what: string, stored: string, command: string, options?: BashOptions][] = [
    ['another program', 'check 2>&1', 'check -v 2>&1 | tail'],
    ['other redirects', 'check 2>&1', 'check 2>/dev/null | tail'],
    ['errors beside the output', 'check', 'check | tail'],
    ['an incomplete tap', 'check 2>&1 | head -c 1; true', 'check 2>&1 | tail'],
    ['standard input', 'check 2>&1', 'check 2>&1 | tail', { stdin: 'x' }],
    ['fresh', 'check 2>&1', 'check 2>&1 | tail', { fresh: true }],
    [
      'pipefail in the environment',
      'check 2>&1',
      'check 2>&1 | tail',
      { env: { SHELLOPTS: 'pipefail', CHECK: 'exit 3' } },
    ],
    ['a filter that writes', 'check 2>&1', 'check 2>&1 | tee cache/log'],
    ['a filter that varies', 'check 2>&1', 'check 2>&1 | (date; cat)'],
  ];
  test.each(RUN)('not with %s', async (_, stored, command, options = {}) => {
    const fixture = new Fixture();
    const given = { ...options, taps, env: { ...fixture.env, ...options.env } } as const;
    await fixture.stored('check 2>&1 | cat', { taps });
    await fixture.run(`${stored}`, given);
    writeFileSync(fixture.path('a'), '1\n');
    const { fresh, ...others } = given;
    await fixture.run(stored, others);
    const { runs } = fixture;
    expect((await fixture.run(command, given)).reused).toBeNull();
    expect(fixture.runs).toBe(runs + 1);
  });
});

describe.runIf(isLinux && !confined)('a session', () => {
  const session = (fixture: Fixture) => {
    const opened = new BashSession({ cwd: fixture.root, env: fixture.env, reuse: fixture.reuse });
    onTestFinished(() => opened.close());
    return opened;
  };

  test('gives a result again if its command leaves the state as it was', async () => {
    const fixture = new Fixture();
    const one = session(fixture);
    await one.run('X=1; cd src; cd ..');
    await expect.poll(async () => (await one.run('check')).reused, { timeout: WAIT / 2 }).not.toBeNull();
    const again = await one.run('check; cat a');
    expect(again.reused).toBeNull();
    expect(await one.run('check; cat a')).toMatchObject({ stdout: '1\n1\n', pid: 0, reused: { runId: again.runId } });
    expect((await one.run('echo "$X"; pwd')).stdout).toBe(`1\n${fixture.root}\n`);
    expect((await one.run('check')).reused).not.toBeNull();
    const other = session(fixture);
    await other.run('X=2');
    expect((await other.run('check')).reused).toBeNull();
  });

  test.each([
    'X=2',
    'cd src',
    'alias x=y',
    'f() { :; }',
    'set -u',
    'export Z=1',
    'umask 77',
    'hash -r; shopt -s extglob',
  ])('runs a command again that changes its state: %s', async (change) => {
    const fixture = new Fixture();
    const one = session(fixture);
    await one.run('X=1; umask 22');
    await expect.poll(async () => (await one.run('check')).reused, { timeout: WAIT / 2 }).not.toBeNull();
    const command = `check; ${change}`;
    const before = await one.run('check');
    expect(before.reused).not.toBeNull();
    expect((await one.run(command)).reused).toBeNull();
    // In the state in which it ran before, it would have to change the state again.
    await one.reset();
    await one.run('X=1; umask 22');
    expect((await one.run('check')).reused).not.toBeNull();
    expect((await one.run(command)).reused).toBeNull();
  });

  test('runs a command in another state', async () => {
    const fixture = new Fixture();
    const one = session(fixture);
    await one.run('X=1');
    await expect.poll(async () => (await one.run('check')).reused, { timeout: WAIT / 2 }).not.toBeNull();
    for (const change of ['X=2', 'check() { echo mine; }', 'alias check=true', 'export LC_ALL=C', 'set -e', 'cd src']) {
      await one.run(change);
      expect((await one.run('check')).reused, change).toBeNull();
    }
  });
});

describe.runIf(isLinux && !confined)('the tool', () => {
  test('has the input fresh where results may be given again', async () => {
    const fixture = new Fixture();
    const { root: cwd, env, reuse } = fixture;
    const options = { cwd, env, reuse };
    await fixture.stored();
    const call = async (input: object) => (await callTool(options, input as never)).output as BashResult;
    expect((await call({ command: 'check' })).reused).not.toBeNull();
    expect((await call({ command: 'check', fresh: false })).reused).not.toBeNull();
    expect(await call({ command: 'check', fresh: true })).toMatchObject({ reused: null, notes: [] });
    expect(await call({ command: 'check', fresh: 'yes' })).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      error: 'fresh must be true or false',
    });
    const fields = (given: object) => {
      const { jsonSchema } = createBashTool(given).inputSchema['~standard'];
      return Object.keys((jsonSchema.input({ target: 'draft-07' }) as { properties: object }).properties);
    };
    expect(fields(options)).toContain('fresh');
    expect(fields({ cwd })).not.toContain('fresh');
    expect(fields({ ...options, reuse: 'off' })).not.toContain('fresh');
  });
});

test.each([
  [{ reuse: 'always' }, 'reuse: "always" is not one of off, verified, or an object'],
  [{ reuse: { commands: 'npm test' } }, 'reuse.commands: '],
  [{ reuse: { commands: ['write:src/**'] } }, 'reuse.commands: "write:src/**" names no command'],
  [{ reuse: { maxAgeMs: 0.5 } }, 'reuse.maxAgeMs: 0.5 is not a whole number from 1'],
  [{ reuse: { storeBytes: -1 } }, 'reuse.storeBytes: -1 is not a whole number from 1'],
  [{ reuse: { most: 1 } }, ''],
  [{ fresh: 'yes' }, 'fresh: "yes" '],
])('%j is ERR_BASH_INVALID_ARG, and nothing runs', async (options, message) => {
  const error = await rejection(() => bash('exit 9', options as never));
  expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(message) });
});
