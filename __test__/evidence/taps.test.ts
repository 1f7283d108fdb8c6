import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, BashSession, bash, OutputStore, type Tap } from 'agent-bash';
import { type BashToolOptions, createBashTool } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { callTool, runTool } from '../ai/fixtures/call.ts';
import { finished, folder, isLinux, WAIT } from '../support/index.ts';
import { bytesOf, HERE, TAPS, testPipelines, written } from './pipelines.ts';
import { WAYS } from './ways.ts';

async function tapOf(command: string, options: BashOptions = {}): Promise<Tap> {
  const { evidence } = await bash(command, { cwd: folder(), ...TAPS, ...options });
  if (!evidence?.tap) throw new Error(`${command} has no tap`);
  return evidence.tap;
}

describe.runIf(isLinux)('taps', () => {
  // Each pipeline in the first way, and in one other. All in every way: stress.
  testPipelines((pipeline, way) => way === 0 || pipeline % (HERE.length - 1) === way - 1);

  test.each(WAYS.filter(([way]) => !HERE.some(([here]) => here === way)))('%s: there is no tap', async (_, run) => {
    const { evidence } = await run('seq 5 | cat', TAPS);
    expect(evidence?.tap ?? null).toBeNull();
  });

  test('a pipeline of another shape says why it has none', async () => {
    expect(await tapOf('seq 5 | cat; true')).toMatchObject({
      kept: false,
      why: expect.stringContaining('whole command'),
    });
    expect(await tapOf('seq $(echo 5) | cat')).toMatchObject({ kept: false, why: expect.stringContaining('simple') });
    expect(await tapOf('cd nowhere && seq 5 | cat')).toMatchObject({
      kept: false,
      why: expect.stringContaining('did not start'),
    });
    expect((await bash('echo 5 | cat', TAPS)).evidence?.tap).toBeNull();
    expect((await bash('seq 5', TAPS)).evidence?.tap).toBeNull();
  });

  test('a shell that cannot be watched has none', async () => {
    const shell = ['/bin/dash', '/bin/busybox'].find((path) => statSync(path, { throwIfNoEntry: false }));
    if (shell === undefined) return;
    expect(await tapOf('seq 5 | cat', { shell })).toMatchObject({
      kept: false,
      why: 'The shell could not be watched.',
    });
  });

  test('without evidence or taps there is none', async () => {
    expect((await bash('seq 5 | cat', { taps: 'on' })).evidence).toBeNull();
    expect((await bash('seq 5 | cat', { evidence: 'status' })).evidence?.tap).toBeNull();
  });

  test('a producer whose reader leaves early, but that has ended, is complete', async () => {
    const tap = await tapOf('bash -c "seq 40000" | (sleep .2; head -1)');
    expect(tap).toMatchObject({ kept: true, complete: false });
    expect(await tapOf('bash -c "seq 2000" | (sleep .3; head -1)')).toMatchObject({ lines: 2000, complete: true });
  });

  test('a reader that waits gets as much at once as was written at once', async () => {
    for (const bytes of [10_000, 60_000]) {
      const command = `perl -e 'sleep 1; syswrite STDOUT, "x" x ${bytes}' | dd bs=65536 count=1 2>/dev/null | wc -c`;
      const { stdout, evidence } = await bash(command, TAPS);
      expect([stdout.trim(), evidence?.tap?.bytes]).toEqual([String(bytes), bytes]);
    }
  });

  test('a command with a tap is as silent as without one', async () => {
    const command = `bash -c 'for i in 1 2 3 4 5 6; do sleep .2; echo $i; seq 3; done' | sort -r | head -1`;
    expect(await bash(command, { ...TAPS, idleTimeoutMs: 500 })).toMatchObject({ status: 'timed-out', exitCode: 124 });
  });

  test('a producer that was ended is not complete', async () => {
    const { evidence } = await bash('yes | grep -c x', { ...TAPS, timeoutMs: 300 });
    expect(evidence?.tap).toMatchObject({ kept: true, complete: false });
  });

  test('past spill.maxBytes nothing more is kept, and the data flows on', async () => {
    const { stdout, evidence } = await bash('seq 1 300000 | tail -1', { ...TAPS, spill: { maxBytes: 100_000 } });
    expect(stdout).toBe('300000\n');
    expect(evidence?.tap).toMatchObject({ kept: true, complete: false, lines: 300_000 });
    expect(bytesOf(evidence?.tap as Tap).length).toBe(100_000);
  });

  test('past the room of the store of outputs nothing more is kept, and the data flows on', async () => {
    const outputs = new OutputStore({ maxBytes: 100_000 });
    finished(() => outputs.close());
    const { output, text } = await callTool({ outputs }, 'seq 1 300000 | grep -c 7');
    expect(output).toMatchObject({ stdout: expect.stringContaining('122853') });
    const { tap } = ('evidence' in output && output.evidence) || { tap: null };
    expect(tap).toMatchObject({ kept: true, why: null, complete: false, lines: 300_000 });
    expect(statSync(tap?.path ?? '').size).toBe(100_000);
    expect(text).toContain(`wrote 300,000 lines, kept as #${tap?.id}`);
  });

  test('a copy that cannot be written costs the copy alone', async () => {
    const dir = join(folder(), 'file');
    writeFileSync(dir, '');
    const { stdout, evidence } = await bash('seq 1 100000 | tail -1', { ...TAPS, spill: { dir } });
    expect(stdout).toBe('100000\n');
    expect(evidence?.tap).toMatchObject({ kept: false, path: null, why: expect.stringContaining('could not be kept') });
  });

  test('the copy is for this user alone', async () => {
    const { path } = await tapOf('seq 5 | cat');
    expect(statSync(path ?? '').mode & 0o777).toBe(0o600);
  });

  test('nothing is left in the directory of files once the store has it', async () => {
    const dir = folder();
    await tapOf('seq 1 100000 | tail -1', { spill: { dir } });
    expect(readdirSync(dir)).toEqual([]);
  });

  describe('in a session', () => {
    test.each([
      ['pipefail', 'set -o pipefail'],
      ['lastpipe', 'shopt -s lastpipe'],
      ['an ERR trap', "trap 'echo failed' ERR"],
      ['a DEBUG trap with a pipeline', "trap 'echo debug | cat >/dev/null' DEBUG"],
      ['a function with a pipeline', 'cd () { echo moved | cat; builtin cd "$@"; }'],
      ['job control', 'set -m'],
    ])('%s: code and output are as without a tap', async (_, before) => {
      const answers = [];
      for (const taps of ['off', 'on'] as const) {
        const session = new BashSession({ cwd: folder(), evidence: 'status', taps });
        finished(() => session.close());
        await session.run(before);
        const { stdout, stderr, exitCode, evidence } = await session.run('cd / && bash -c "seq 5; exit 3" | cat');
        answers.push({ stdout, stderr, exitCode });
        if (evidence?.tap?.kept) expect(bytesOf(evidence.tap).toString()).toBe('1\n2\n3\n4\n5\n');
      }
      expect(answers[1]).toEqual(answers[0]);
    });
  });

  test.each(['set -m', 'cd () { true | true; builtin cd "$@"; }', "trap 'true | true' DEBUG"])(
    'after %s the shell has no other descriptors than without a tap',
    async (before) => {
      const answers = [];
      // The shell closes its ends of the pipe before it sleeps.
      const sleeps = 'until read -r _ _ state _ < /proc/$$/stat && [ "$state" = S ]; do :; done';
      for (const taps of ['off', 'on'] as const) {
        const session = new BashSession({ cwd: folder(), evidence: 'status', taps });
        finished(() => session.close());
        await session.run(before);
        const { stdout } = await session.run(`cd / && seq 0 | { ${sleeps}; ls /proc/$$/fd; }`);
        answers.push(stdout);
      }
      expect(answers[1]).toEqual(answers[0]);
    },
  );

  describe('counts of tests', () => {
    const failing = `import test from 'node:test';
      for (let at = 0; at < 9; at++) test(\`passes \${at}\`, () => {});
      test('fails', () => { throw new Error('no'); });
      test(process.env.SECOND ?? 'second', () => { throw new Error('no'); });`;
    const runner = (cwd: string) => {
      writeFileSync(join(cwd, 'x.test.mjs'), failing);
      const node = `env -u NODE_OPTIONS -u NODE_TEST_CONTEXT ${process.execPath} --test x.test.mjs`;
      return (filter: string, options: BashOptions = {}) => bash(`${node} ${filter}`, { cwd, ...TAPS, ...options });
    };

    test('they are those of the producer, whatever the filter leaves of them', async () => {
      const run = runner(folder());
      const counts = { runner: 'node-test', passed: 9, failed: 2, failures: ['fails', 'second'], complete: true };
      for (const filter of ['2>&1 | tail -3', '| grep -c nothing', '2>&1 | wc -l']) {
        const { evidence } = await run(filter);
        expect(evidence, filter).toMatchObject({ verdict: 'failed', tests: [counts] });
      }
      expect((await run('2>&1 | tail -3', { taps: 'off' })).evidence?.tests).not.toMatchObject([counts]);
    });

    test('failing tests are compared with those of the run before', async () => {
      const run = runner(folder());
      const again = async (filter: string, second: string) => {
        const { evidence } = await run(filter, { env: { SECOND: second } });
        return evidence?.checks[0]?.again;
      };
      expect(await again('2>&1 | tail -3', 'second')).toBeNull();
      expect(await again('2>&1 | tail -4', 'third')).toEqual({
        fixed: ['second'],
        same: ['fails'],
        appeared: ['third'],
      });
    });

    test('they are not complete where the tap is not', async () => {
      const { evidence } = await runner(folder())('2>&1 | tail -3', { spill: { maxBytes: 100 } });
      expect(evidence?.tap).toMatchObject({ kept: true, complete: false });
      expect(evidence).toMatchObject({ verdict: 'failed', tests: [{ passed: 9, failed: 2, complete: false }] });
      const early = await runner(folder())('2>&1 | head -1');
      expect(early.evidence?.tests.some(({ complete }) => complete)).toBe(false);
    });

    test('standard error counts, though it does not flow through the pipe', async () => {
      const cwd = folder();
      runner(cwd);
      const command = `bash -c 'env -u NODE_OPTIONS -u NODE_TEST_CONTEXT ${process.execPath} --test x.test.mjs >&2' | cut -c1`;
      const { evidence } = await bash(command, { cwd, ...TAPS });
      expect(evidence?.tests).toMatchObject([{ passed: 9, failed: 2, complete: true }]);
    });

    test('a runner behind the pipe has counts, too', async () => {
      const cwd = folder();
      const behind = `${process.execPath} --test x.test.mjs`;
      runner(cwd);
      const { evidence } = await bash(`seq 3 | env -u NODE_OPTIONS -u NODE_TEST_CONTEXT ${behind}`, { cwd, ...TAPS });
      expect(evidence).toMatchObject({ tap: { lines: 3 }, tests: [{ passed: 9, failed: 2 }] });
    });
  });

  describe('at its end', () => {
    test('the reader prints what it holds at the limit', async () => {
      const { stdout, exitCode, evidence } = await bash('bash -c "seq 5; sleep 60" | tail -2', {
        ...TAPS,
        timeoutMs: 700,
      });
      expect({ stdout, exitCode }).toEqual({ stdout: '4\n5\n', exitCode: 124 });
      expect(evidence?.tap).toMatchObject({ lines: 5 });
    });

    test('the search for blocked processes finds the producer behind the reader', async () => {
      const cwd = folder();
      const command = 'bash -c "mkfifo p; printf Name:; exec cat p" | cat';
      const notes = [];
      for (const taps of ['off', 'on'] as const) {
        const result = await bash(command, { evidence: 'status', taps, cwd: join(cwd), timeoutMs: 700 });
        notes.push(result.notes.map((note) => note.replace(/\d+/g, 'N')));
        await bash('rm p', { cwd });
      }
      expect(notes[0]?.join()).toMatch(/cat p/);
      expect(notes[1]).toEqual(notes[0]);
    });

    test('a command that moves to the background loses no byte', async () => {
      const registry = new BackgroundRegistry({ dir: folder() });
      finished(() => registry.close());
      const command = `bash -c 'seq 1 30000; sleep 1; seq 30001 60000' | cat`;
      const options: BashOptions = { ...TAPS, registry, onTimeout: 'background', timeoutMs: 500 };
      const { background, evidence } = await bash(command, options);
      if (background === null) throw new Error('it has ended');
      expect(evidence).toBeNull();
      await registry.wait(background);
      expect(readFileSync(background.logPath, 'utf8')).toBe(
        `${written('seq 1 60000 |')}[background process completed]\n`,
      );
      const check = await registry.check(background);
      expect(check).toMatchObject({ evidence: { verdict: 'passed', tap: null } });
    });

    test('what a surviving reader has still to read is kept', async () => {
      const cwd = folder();
      const reader = `setsid bash -c 'until test -e go; do sleep .02; done; exec cat >kept <&3' 3<&0 >/dev/null 2>&1 &`;
      const { evidence } = await bash(`perl -e 'print "x" x 69000' | { ${reader} }`, { ...TAPS, cwd });
      writeFileSync(join(cwd, 'go'), '');
      expect(evidence?.tap).toMatchObject({ kept: true, bytes: 69_000, complete: true });
      await expect.poll(() => statSync(join(cwd, 'kept')).size, { timeout: WAIT / 2 }).toBe(69_000);
    });

    test('a reader that stays as a survivor still gets what the producer writes', async () => {
      const cwd = folder();
      const reader = `bash -c 'exec cat >kept <&3' 3<&0 >/dev/null 2>&1 &`;
      const command = `bash -c '(sleep .5; seq 2 2) 2>/dev/null & seq 1 1' | { ${reader} }`;
      const { survivors, evidence } = await bash(command, { ...TAPS, cwd });
      expect(survivors.length).toBeGreaterThan(0);
      expect(evidence?.tap).toMatchObject({ kept: true, lines: 1, complete: false });
      await expect.poll(() => readFileSync(join(cwd, 'kept'), 'utf8'), { timeout: WAIT / 2 }).toBe('1\n2\n');
    });
  });

  describe('for models', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1}`).join('\n');

    test('a producer in a pipeline is named with its number, and recalled without what only terminals show', async () => {
      const store = new OutputStore();
      finished(() => store.close());
      const command = `printf '\\033[31m%s\\033[0m\\n' {1..500} | grep -v 3 | sort`;
      const perl = `perl -e 'print "\\e[31m$_\\e[0m\\n" for 1 .. 500' | grep -c 3`;
      expect((await runTool({ outputs: store }, command)).evidence?.tap).toBeNull();
      const { output, text } = await callTool({ outputs: store }, perl);
      const id = ('evidence' in output && output.evidence?.tap?.id) || 0;
      expect(id).toBeGreaterThan(0);
      expect(text).toContain(`for 1 .. 500'» wrote 500 lines, kept as #${id}: recall "${id} /pattern/"]`);
      expect(await store.read(id, { lines: [499, 500] })).toBe('499\n500\n');
      expect(await store.read(id, { pattern: '^42.?$' })).toMatch(/42\n(.|\n)*420/);
      expect(await store.read(id)).toBe(`${lines(500)}\n`);
    });

    test('where the tool takes a trailing pipe away, the whole output of the run is kept', async () => {
      const { output, text } = await callTool({}, 'seq 1 1204 | tail -2');
      expect(output).toMatchObject({ stdout: expect.stringMatching(/1203\n1204/) });
      const { tap } = ('evidence' in output && output.evidence) || { tap: null };
      expect(tap).toMatchObject({ command: 'seq 1 1204', kept: true, lines: 1204, complete: true });
      expect(text).toContain(`[«seq 1 1204» wrote 1,204 lines, kept as #${tap?.id}: recall "${tap?.id} /pattern/"]`);
      expect(readFileSync(tap?.path ?? '', 'utf8')).toBe(`${lines(1204)}\n`);
    });

    test('a tap that has no more than is shown has no line', async () => {
      expect((await callTool({}, 'seq 1 3 | tail -5')).text).toBe('1\n2\n3');
    });

    test('a tool has recall with taps on every level, and not without', () => {
      const has = (options: object) =>
        'recall' in
        Object(createBashTool(options).inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }).properties);
      expect(has({ reduce: 'off' })).toBe(true);
      expect(has({})).toBe(true);
      expect(has({ taps: 'off' })).toBe(false);
      expect(has({ evidence: 'off' })).toBe(false);
    });

    test('a tool with a hook has none, unless it asks for them: the hook does not see what is kept', async () => {
      const onAfterRun = () => undefined;
      const tapWith = async (options: BashToolOptions) => {
        const { output } = await callTool({ onAfterRun, ...options }, 'seq 1 100 | grep -c 1');
        return ('evidence' in output && output.evidence?.tap) || null;
      };
      expect(await tapWith({})).toBeNull();
      expect(await tapWith({ perCall: () => ({ onAfterRun }), onAfterRun: undefined })).toBeNull();
      expect(await tapWith({ taps: 'on' })).toMatchObject({ kept: true });
    });

    test('a hook that changes the text also removes the copy', async () => {
      let path = '';
      const { output } = await callTool(
        {
          taps: 'on',
          onAfterRun: ({ result }) => {
            if (!('stdout' in result) || !('evidence' in result)) return undefined;
            path = result.evidence?.tap?.path ?? '';
            return Object.freeze({ ...result, stdout: 'redacted' });
          },
        },
        'seq 1 100 | grep -c 1',
      );
      expect(path).not.toBe('');
      expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
      expect(output).toMatchObject({ evidence: { tap: null } });
    });
  });
});
