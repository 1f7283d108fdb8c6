import { statSync } from 'node:fs';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { confined } from '../support/confined/index.ts';
import {
  chomp,
  cutAt,
  drip,
  everyByte,
  folder,
  hasLoneSurrogate,
  mark,
  rejection,
  seq,
  settles,
  until,
} from '../support/index.ts';
import { body, ended, gate, heard, logOf, open, registry, tasksFolder } from './support.ts';

describe('check gives new output, once and in order', () => {
  test('from the beginning to the end', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`echo 1; ${gate('a')}; echo 2; echo 3; ${gate('b')}; echo 4`, { cwd });
    const outputs: string[] = [];
    const next = () =>
      until(async () => {
        const { output } = await tasks.check(task.id);
        outputs.push(output);
        return output;
      });
    expect(await next()).toBe('1\n');
    expect(await tasks.check(task.id)).toMatchObject({ output: '', newLines: 0, truncation: null, matched: false });
    open(cwd, 'a');
    await until(async () => (await next()).includes('3\n'));
    open(cwd, 'b');
    await until(async () => {
      const check = await tasks.check(task.id);
      outputs.push(check.output);
      return check.task.state !== 'running';
    });
    outputs.push((await tasks.check(task.id)).output);
    expect(outputs.join('')).toBe('1\n2\n3\n4\n');
    expect(await tasks.check(task.id)).toMatchObject({
      output: '',
      newLines: 0,
      task: { state: 'exited', exitCode: 0 },
    });
  });

  test('by id, by pid, and by the digits of the pid', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo hi; sleep ${mark()}`);
    await until(async () => (await tasks.check(task.pid)).output === 'hi\n');
    expect((await tasks.check(task.id)).task.id).toBe(task.id);
    expect((await tasks.check(`${task.pid}`, { cursor: 0 })).output).toBe('hi\n');
  });

  test('the whole figure of a check', async () => {
    const tasks = registry();
    const task = await tasks.start(`seq 3; sleep ${mark()}`);
    await until(() => statSync(task.logPath).size === 6);
    const check = await tasks.check(task.id);
    expect(check).toStrictEqual({
      task,
      output: '1\n2\n3\n',
      newLines: 3,
      cursor: 6,
      truncation: null,
      matched: false,
      stranger: null,
      confinement: confined ? expect.any(Object) : null,
      runId: null,
      receipt: null,
      undo: null,
      evidence: null,
      stale: null,
    });
    expect(JSON.parse(JSON.stringify(check))).toStrictEqual(check);
  });

  test('an unfinished line counts as one', async () => {
    const tasks = registry();
    const task = await tasks.start("printf 'a\\nb'");
    const check = await settles(tasks.wait(task.id));
    expect([chomp(check.output), check.newLines]).toEqual(['a\nb', 2]);
    expect(logOf(task)).toBe('a\nb\n[background process completed]\n');
  });

  test('the closing line is no part of the output', async () => {
    const tasks = registry();
    const task = await tasks.start('seq 3; exit 7');
    expect((await settles(tasks.wait(task.id))).output).toBe('1\n2\n3\n');
    expect((await tasks.check(task.id)).output).toBe('');
    expect((await tasks.check(task.id, { cursor: 0 })).output).toBe('1\n2\n3\n');
    expect(logOf(task)).toBe('1\n2\n3\n[background process failed: exit code 7]\n');
  });

  test('what a command prints that looks like a closing line is output', async () => {
    const tasks = registry();
    const lie = '[background process completed]';
    const task = await tasks.start(`echo '${lie}'; sleep .1; echo on; exit 3`);
    const check = await settles(tasks.wait(task.id));
    expect([check.output, check.task.exitCode]).toEqual([`${lie}\non\n`, 3]);
    expect(logOf(task)).toBe(`${lie}\non\n[background process failed: exit code 3]\n`);
  });

  test('ten checks at once share the output', async () => {
    const tasks = registry();
    const task = await tasks.start('seq 100');
    await until(() => logOf(task).includes('[background'));
    const checks = await Promise.all(Array.from({ length: 10 }, () => tasks.check(task.id)));
    expect(checks.map(({ output }) => output).join('')).toBe(seq(1, 100));
  });

  test('a task without output', async () => {
    const tasks = registry();
    const task = await tasks.start('true');
    expect(await settles(tasks.wait(task.id))).toMatchObject({ output: '', newLines: 0, cursor: 0, truncation: null });
    expect(logOf(task)).toBe('[background process completed]\n');
  });
});

describe('several readers, each with its cursor', () => {
  test('read everything once, whatever the others do', async () => {
    const tasks = registry();
    const task = await tasks.start('for i in {1..400}; do echo "line $i"; ((i % 20)) || sleep .01; done');
    const reader = async (pause: number) => {
      let text = '';
      let cursor = 0;
      for (;;) {
        const check = await tasks.check(task.id, { cursor });
        text += check.output;
        cursor = check.cursor;
        if (check.task.state !== 'running' && check.output === '') return text;
        await bash(`sleep ${pause}`);
      }
    };
    const shared = async () => {
      let text = '';
      for (;;) {
        const check = await tasks.check(task.id);
        text += check.output;
        if (check.task.state !== 'running' && check.output === '') return text;
        await bash('sleep .02');
      }
    };
    let expected = '';
    for (let n = 1; n <= 400; n++) expected += `line ${n}\n`;
    const texts = await Promise.all([reader(0), reader(0.05), shared()]);
    expect(texts.map((text) => text === expected)).toEqual([true, true, true]);
  });

  test('a cursor of its own leaves the shared one alone', async () => {
    const tasks = registry();
    const task = await tasks.start('echo a; echo b');
    await until(() => logOf(task).includes('[background'));
    expect(await tasks.check(task.id, { cursor: 2 })).toMatchObject({ output: 'b\n', newLines: 1, cursor: 4 });
    expect(await tasks.check(task.id, { cursor: 4 })).toMatchObject({ output: '', newLines: 0, cursor: 4 });
    expect((await tasks.check(task.id)).output).toBe('a\nb\n');
  });

  test('a cursor inside a character gives no half of it', async () => {
    const tasks = registry();
    const task = await tasks.start("printf 'a😀b\\n'");
    await until(() => logOf(task).includes('[background'));
    for (let cursor = 0; cursor <= 7; cursor++) {
      const { output } = await tasks.check(task.id, { cursor });
      expect(hasLoneSurrogate(output)).toBe(false);
      expect('a😀b\n'.endsWith(output.replaceAll('\uFFFD', '')), `${cursor}: ${output}`).toBe(true);
    }
  });

  test.each([-1, 1.5, Number.NaN, '3', null])('%s is not a cursor', async (cursor) => {
    const tasks = registry();
    const task = await tasks.start('true');
    const error = await rejection(() => tasks.check(task.id, { cursor: cursor as number }));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('cursor') });
  });

  test('a newly opened registry starts at 0', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const task = await tasks.start('seq 5');
    expect((await settles(tasks.wait(task.id))).output).toBe(seq(1, 5));
    expect(await registry({ dir }).check(task.id)).toMatchObject({ output: seq(1, 5), cursor: 10 });
    expect((await tasks.check(task.id)).output).toBe('');
  });
});

describe('much output is cut as in a result, with the name `output`', () => {
  test('by lines', async () => {
    const tasks = registry();
    const task = await tasks.start('seq 8500');
    const check = await settles(tasks.wait(task.id));
    const notice = `[output: Showing last 2000 of 8500 lines. Full output: ${task.logPath}]`;
    expect(check.output).toBe(`${seq(6501, 8500)}${notice}`);
    expect(check).toMatchObject({
      newLines: 8500,
      truncation: { keep: 'tail', by: 'lines', totalLines: 8500, outputLines: 2000, firstLine: 6501, lastLine: 8500 },
    });
    expect(check.truncation).toMatchObject({ path: task.logPath, spillError: null, artifactId: null, notice });
    expect(check.truncation?.totalBytes).toBe(Buffer.byteLength(seq(1, 8500)));
    expect((await tasks.check(task.id)).output).toBe('');
  });

  test('by bytes, inside a long line, and at a character', async () => {
    const tasks = registry();
    const task = await tasks.start(`for i in {1..20000}; do printf 漢; done; echo`);
    const { output, truncation } = await settles(tasks.wait(task.id));
    expect(truncation).toMatchObject({ by: 'bytes', totalBytes: 60_001, partialLine: true });
    expect(truncation?.outputBytes).toBeLessThanOrEqual(51_200);
    expect(output).toMatch(/^漢+\n\[output: Showing /);
  });

  test('only new output is counted', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`seq 5000; echo first; ${gate()}; seq 3000`, { cwd });
    await heard(tasks, task, 'first\n');
    open(cwd);
    const check = await settles(tasks.wait(task.id));
    expect(check.newLines).toBe(3000);
    expect(check.output.startsWith(seq(1001, 3000))).toBe(true);
    expect(check.truncation).toMatchObject({ totalLines: 3000, firstLine: 1001 });
  });

  test('a log of 14 MB is whole', async () => {
    const tasks = registry();
    const task = await tasks.start('seq 2000000');
    const check = await settles(tasks.wait(task.id), 60_000);
    expect(check.newLines).toBe(2_000_000);
    expect(check.output.startsWith(seq(1_998_001, 2_000_000))).toBe(true);
    expect(body(logOf(task)) === seq(1, 2_000_000)).toBe(true);
  });
});

describe('an unfinished line', () => {
  test('is there after 250 ms of quiet, and once', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`printf 'Password: '; ${gate()}; echo next`, { cwd });
    await until(async () => (await tasks.check(task.id)).output === 'Password: ');
    open(cwd);
    expect((await settles(tasks.wait(task.id))).output).toBe('next\n');
    expect(logOf(task)).toBe('Password: next\n[background process completed]\n');
  });

  test('that pauses in a character keeps it whole', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`printf 'a\\xe2'; ${gate()}; printf '\\x80\\x94\\n'`, { cwd });
    await until(async () => (await tasks.check(task.id)).output === 'a');
    open(cwd);
    expect((await settles(tasks.wait(task.id))).output).toBe('—\n');
    expect(body(logOf(task))).toBe('a—\n');
  });

  test('without an end and without a pause does not fill memory: 20 MB', async () => {
    const tasks = registry();
    const task = await tasks.start('head -c 20000000 /dev/zero | tr "\\0" x; sleep .1; echo; echo end');
    const check = await settles(tasks.wait(task.id), 60_000);
    expect(check.output).toContain('end\n');
    expect(statSync(task.logPath).size).toBe(20_000_000 + 5 + '[background process completed]\n'.length);
  });
});

describe('characters in pieces', () => {
  const text = 'é—😀x漢\n';

  test('every byte by itself, read all the time', async () => {
    const tasks = registry();
    const task = await tasks.start(drip(everyByte(text.repeat(8))), { cwd: folder() });
    const outputs: string[] = [];
    await until(async () => {
      const check = await tasks.check(task.id);
      outputs.push(check.output);
      return check.task.state !== 'running';
    });
    outputs.push((await tasks.check(task.id)).output);
    expect(outputs.join('')).toBe(text.repeat(8));
    expect(outputs.some((output) => output.includes('\uFFFD') || hasLoneSurrogate(output))).toBe(false);
  });

  test('at any cut', async () => {
    const tasks = registry();
    const bytes = Buffer.from(text.repeat(3));
    for (const places of [
      [1, 5, 9],
      [2, 3, 4, 17],
      [7, 8, 20, 21],
    ]) {
      const task = await tasks.start(drip(cutAt(bytes, places)), { cwd: folder() });
      expect((await settles(tasks.wait(task.id))).output).toBe(text.repeat(3));
    }
  });

  test('bytes that are no text are replaced, never an error', async () => {
    const tasks = registry();
    const task = await tasks.start("printf 'a\\xffb\\0c\\n'");
    expect((await settles(tasks.wait(task.id))).output).toBe('a\uFFFDbc\n');
    const noise = await tasks.start('head -c 100000 /dev/urandom; echo; echo end');
    expect((await settles(tasks.wait(noise.id))).output).toContain('end\n');
  });
});

test('`echo x >/dev/stdout` keeps the earlier output', async () => {
  const tasks = registry();
  const task = await tasks.start('echo 1; echo 2 >/dev/stdout; echo 3 >/dev/stderr; echo 4');
  await ended(tasks, task);
  expect(body(logOf(task)).split('\n').sort()).toEqual(['', '1', '2', '3', '4']);
});
