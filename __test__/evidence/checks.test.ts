import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, bash, type Check, listChecks } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { finished, folder, isLinux, rejection } from '../support/index.ts';
import { WAYS } from './ways.ts';

/** A repository with a program `pytest` that prints the file `report`, and exits with the code in `code`. */
function repository(): string {
  const root = realpathSync(folder());
  execFileSync('git', ['init', '-q'], { cwd: root });
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin/pytest'), '#!/bin/sh\ncat "${0%/*}/report"\nexit "$(cat "${0%/*}/code")"\n', {
    mode: 0o755,
  });
  writeFileSync(join(root, '.gitignore'), '/bin/\n*.log\n');
  report(root, []);
  return root;
}

/** Sets the tests that fail from now on. */
function report(root: string, failed: string[]): void {
  const names = failed.map((name) => `FAILED test_a.py::${name} - assert 1 == 2\n`).join('');
  const passed = 5 - failed.length;
  const counts = failed.length === 0 ? `${passed} passed` : `${failed.length} failed, ${passed} passed`;
  const head = '============================= test session starts ==============================\n';
  writeFileSync(join(root, 'bin/report'), `${head}${names}========== ${counts} in 0.02s ==========\n`);
  writeFileSync(join(root, 'bin/code'), failed.length === 0 ? '0' : '1');
}

async function check(root: string, command = 'pytest', options: BashOptions = {}): Promise<Check> {
  const env = { PATH: `${root}/bin:${process.env.PATH}` };
  const { evidence } = await bash(command, { cwd: root, env, evidence: 'status', ...options });
  const [first] = evidence?.checks ?? [];
  if (!first) throw new Error(`no check: ${JSON.stringify(evidence)}`);
  return first;
}

describe.each(WAYS)('a command that runs %s', (_, run) => {
  test.runIf(isLinux)('has the counts of its tests, and its checks', async () => {
    const root = repository();
    report(root, ['one', 'two']);
    const command = `PATH=${root}/bin:$PATH; pytest -q || :`;
    const { exitCode, evidence } = await run(command, { cwd: root, evidence: 'status' });
    expect(exitCode).toBe(0);
    expect(evidence).toMatchObject({
      verdict: 'failed',
      tests: [
        { runner: 'pytest', passed: 3, failed: 2, failures: ['test_a.py::one', 'test_a.py::two'], complete: true },
      ],
      checks: [{ command: 'pytest -q', cwd: root, kind: 'test', verdict: 'failed', last: null, lastPassed: null }],
    });
    expect(evidence?.checks).toHaveLength(1);
    const id = evidence?.checks[0]?.id;
    expect(await listChecks({ cwd: root })).toMatchObject([{ id, run: { verdict: 'failed', exitCode: 1 } }]);
  });
});

describe.runIf(isLinux)('the verdict', () => {
  const printed = async (text: string, command = 'pytest') => {
    const root = repository();
    writeFileSync(join(root, 'bin/report'), text);
    const env = { PATH: `${root}/bin:${process.env.PATH}` };
    return (await bash(command, { cwd: root, env, evidence: 'status' })).evidence;
  };

  test('is failed if a test failed, whatever the exit code says', async () => {
    const evidence = await printed('========== 1 failed, 3 passed in 0.02s ==========\n');
    expect(evidence).toMatchObject({ verdict: 'failed', why: '1 test of pytest failed.', masked: [] });
    expect(evidence?.checks).toMatchObject([{ verdict: 'failed' }]);
  });

  test('is unproven if a runner ran no test', async () => {
    const evidence = await printed('========== 2 skipped in 0.02s ==========\n');
    expect(evidence).toMatchObject({ verdict: 'unproven', why: 'pytest ran no test.' });
    expect(evidence?.checks).toMatchObject([{ verdict: 'unproven' }]);
  });

  test('takes nothing from files, searches and prose', async () => {
    const text = '========== 1 failed, 3 passed in 0.02s ==========\n';
    for (const command of [
      'cat bin/report',
      'grep -h failed bin/report',
      'cat bin/report; pytest',
      'echo "1 failed"',
    ]) {
      expect(await printed(text, command), command).toMatchObject({ verdict: 'passed', tests: [] });
    }
  });

  test('counts the output before any cut', async () => {
    const root = repository();
    const noise = 'x'.repeat(99).concat('\n').repeat(30_000);
    writeFileSync(join(root, 'bin/report'), `========== 1 failed in 0.02s ==========\n${noise}`);
    const limits = { truncate: { keep: 'tail', maxBytes: 1_000 }, merge: true } as const;
    const { command, verdict } = await check(root, 'pytest', limits);
    expect({ command, verdict }).toEqual({ command: 'pytest', verdict: 'failed' });
  });

  test('calls nothing complete that a filter has left', async () => {
    const evidence = await printed('========== 3 passed in 0.02s ==========\n', 'pytest | tail -n 1');
    expect(evidence).toMatchObject({ verdict: 'passed', tests: [{ passed: 3, complete: false }] });
  });
});

describe.runIf(isLinux)('a check', () => {
  test('knows its runs before, and which tests failed anew', async () => {
    const root = repository();
    report(root, ['one', 'two']);
    const first = await check(root);
    expect(first).toMatchObject({ verdict: 'failed', last: null, lastPassed: null, since: null, again: null });
    report(root, ['two', 'three']);
    const second = await check(root, 'timeout 20 pytest');
    expect(second).toMatchObject({
      id: first.id,
      last: { verdict: 'failed', exitCode: 1, at: expect.any(Number), runId: expect.any(String) },
      lastPassed: null,
      again: { fixed: ['test_a.py::one'], same: ['test_a.py::two'], appeared: ['test_a.py::three'] },
    });
    report(root, []);
    const third = await check(root);
    expect(third.again).toEqual({ fixed: ['test_a.py::two', 'test_a.py::three'], same: [], appeared: [] });
    // Fewer tests ran, as behind a stop at the first failure.
    writeFileSync(join(root, 'bin/report'), '========== 1 failed, 1 passed in 0.02s ==========\n');
    expect((await check(root)).again).toBeNull();
    report(root, []);
    await check(root);
    const fourth = await check(root, 'pytest | tail -n 2');
    expect(fourth).toMatchObject({ id: first.id, verdict: 'passed', lastPassed: fourth.last, again: null });
    expect(fourth.since).toMatchObject({ state: 'unknown', why: expect.any(String), total: 0, paths: [] });
  });

  test('is another one in another directory, or with other words', async () => {
    const root = repository();
    mkdirSync(join(root, 'app'));
    const ids = [
      (await check(root)).id,
      (await check(root, 'cd app && pytest 2>&1 | tail -n 5')).id,
      (await check(root, 'pytest app')).id,
    ];
    expect(new Set(ids).size).toBe(3);
    expect((await check(root, 'pytest', { cwd: join(root, 'app') })).id).toBe(ids[1]);
    const listed = await listChecks({ cwd: join(root, 'app') });
    expect(listed.map(({ id, cwd }) => [id, cwd])).toEqual([[ids[1], join(root, 'app')]]);
    expect((await listChecks({ cwd: root })).map(({ id }) => id)).toEqual([ids[1], ids[2], ids[0]]);
  });

  test('may be named by `checks`', async () => {
    const root = repository();
    writeFileSync(join(root, 'ci.sh'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const named = await check(root, './ci.sh || :', { checks: ['./ci.sh', 'task verify:*'] });
    expect(named).toMatchObject({ command: './ci.sh', kind: 'test', verdict: 'failed' });
    const { evidence } = await bash('./ci.sh', { cwd: root, evidence: 'status' });
    expect(evidence?.checks).toEqual([]);
  });
});

describe.runIf(isLinux)("with evidence: 'tree'", () => {
  const tree = { evidence: 'tree' } as const;

  test('a check says what changed since it passed, and listChecks whether it is stale', async () => {
    const root = repository();
    await check(root, 'pytest', tree);
    const standing = async () => (await listChecks({ cwd: root }))[0];
    expect(await standing()).toMatchObject({ stale: false, since: { state: 'known', total: 0, paths: [] } });
    writeFileSync(join(root, 'a.log'), '1');
    writeFileSync(join(root, 'bin/new'), '1');
    expect(await standing()).toMatchObject({ stale: false, since: { state: 'known', total: 0 } });
    // A file of the same size may have the same content.
    writeFileSync(join(root, 'bin/new'), '2');
    expect(await standing()).toMatchObject({ stale: false, since: { state: 'known', total: 0 } });
    writeFileSync(join(root, 'a.py'), '1');
    mkdirSync(join(root, 'lib'));
    const paths = [join(root, 'a.py'), join(root, 'lib')];
    expect(await standing()).toMatchObject({ stale: true, since: { state: 'known', total: 2, paths } });
    report(root, ['one']);
    const failed = await check(root, 'pytest; echo 1 >b.py', tree);
    expect(failed).toMatchObject({ verdict: 'failed', since: { state: 'known', why: null, total: 2, paths } });
    // The run of the check ended before the command wrote its file, which counts as a part of it.
    expect(await standing()).toMatchObject({ stale: false, run: { verdict: 'failed' }, lastPassed: failed.lastPassed });
  });

  test('files of another tree are not known', async () => {
    const [root, other] = [repository(), repository()];
    await check(root, `cd ${other} && pytest`, tree);
    const again = await check(root, `cd ${other} && pytest`, tree);
    expect(again.since).toMatchObject({ state: 'unknown', why: 'The check ran outside of the tree that was watched.' });
    expect(await listChecks({ cwd: other })).toMatchObject([{ stale: null, since: { state: 'unknown' } }]);
  });

  test('a repository within the tree is another one, also if git ignores it', async () => {
    const root = repository();
    writeFileSync(join(root, '.gitignore'), '/bin/\n/wt/\n/out/\n');
    const inner = join(root, 'wt/inner');
    mkdirSync(inner, { recursive: true });
    mkdirSync(join(root, 'out'));
    execFileSync('git', ['init', '-q'], { cwd: inner });
    for (const cwd of [inner, join(root, 'out')]) {
      await check(root, `cd ${cwd} && pytest`, tree);
      writeFileSync(join(cwd, 'new'), '1');
      expect(await listChecks({ cwd })).toMatchObject([{ stale: null, since: { state: 'unknown' } }]);
      expect((await check(root, `cd ${cwd} && pytest`, tree)).since).toMatchObject({ state: 'unknown' });
    }
    await check(root, 'pytest', { ...tree, cwd: inner });
    expect(await listChecks({ cwd: inner })).toMatchObject([{ stale: false, since: { state: 'known' } }]);
  });

  test('a task knows it as well', async () => {
    const root = repository();
    const registry = new BackgroundRegistry();
    finished(() => registry.close());
    const env = { PATH: `${root}/bin:${process.env.PATH}` };
    const run = async () => {
      const task = await registry.start('pytest', { cwd: root, env, ...tree });
      return (await registry.wait(task)).evidence?.checks[0];
    };
    expect(await run()).toMatchObject({ verdict: 'passed', since: null });
    writeFileSync(join(root, 'a.py'), '1');
    expect(await run()).toMatchObject({ since: { state: 'known', total: 1, paths: [join(root, 'a.py')] } });
    expect(await listChecks({ cwd: root })).toMatchObject([{ stale: false }]);
  });
});

describe('ERR_BASH_INVALID_ARG', () => {
  test.each([
    [['npm *'], /^checks: "npm \*": /],
    [[''], /^checks: a rule is empty/],
    [['write:src/**'], /^checks: "write:src\/\*\*" names no command/],
    ['./ci.sh', /^checks: "\.\/ci\.sh" is not an array of strings/],
  ])('checks: %j', async (checks, message) => {
    const failure = rejection(() => bash('exit 9', { evidence: 'status', checks: checks as never }));
    expect(await failure).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringMatching(message) });
  });

  test.each([
    [{ cwd: '' }, /^cwd: "" is not a path/],
    [{ cwd: 3 }, /^cwd: 3 is not a path/],
    [{ dir: '/' }, /dir/],
    ['/', /^options: "\/" is not an object/],
  ])('listChecks(%j)', async (options, message) => {
    const failure = rejection(() => listChecks(options as never));
    expect(await failure).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringMatching(message) });
  });

  test('a directory that does not exist has no checks', async () => {
    expect(await listChecks({ cwd: '/none/at/all' })).toEqual([]);
  });
});
