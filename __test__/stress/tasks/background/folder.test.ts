import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BackgroundTask, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  ended,
  files,
  gate,
  heard,
  logOf,
  open,
  registry,
  stateFile,
  tasksFolder,
} from '../../../background/support.ts';
import { folder, hostEnv, hostResult, mark, rejection, settles, until } from '../../../support/index.ts';

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** A directory in which three tasks have ended, with 1, 2 and 3. */
async function three(): Promise<{ dir: string; tasks: [BackgroundTask, BackgroundTask, BackgroundTask] }> {
  const dir = tasksFolder();
  const first = registry({ dir });
  const tasks: BackgroundTask[] = [];
  for (const code of [1, 2, 3]) tasks.push(await ended(first, await first.start(`echo ${code}; exit ${code}`)));
  await first.close();
  return { dir, tasks: tasks as [BackgroundTask, BackgroundTask, BackgroundTask] };
}

describe('a damaged state file costs only its own task, and is named in a note', () => {
  const damages: [string, (path: string) => void][] = [
    ['empty', (path) => truncateSync(path, 0)],
    ['cut', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['no JSON', (path) => writeFileSync(path, 'not json at all')],
    [
      'bytes',
      (path) =>
        writeFileSync(
          path,
          Uint8Array.from({ length: 300 }, (_, n) => n % 256),
        ),
    ],
    ['of another shape', (path) => writeFileSync(path, '{"version":1}')],
    ['a list', (path) => writeFileSync(path, '[]')],
    ['null', (path) => writeFileSync(path, 'null')],
    [
      'numbers out of range',
      (path) => writeFileSync(path, readFileSync(path, 'utf8').replace(/\d{5,}/g, '9'.repeat(40))),
    ],
    ['wrong types', (path) => writeFileSync(path, readFileSync(path, 'utf8').replace(/: ?\d+/g, ':"x"'))],
    ['followed by more', (path) => appendFileSync(path, '{"and":"more"')],
    ['huge', (path) => writeFileSync(path, 'x'.repeat(30_000_000))],
    [
      'a folder',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    [
      'a link',
      (path) => {
        rmSync(path);
        symlinkSync('/etc/passwd', path);
      },
    ],
  ];

  test.each(damages)('%s', async (_, damage) => {
    const { dir, tasks } = await three();
    const [one, two, last] = tasks;
    damage(stateFile(two));
    const again = registry({ dir });
    const byCode = again.list().sort((a, b) => (a.exitCode ?? 0) - (b.exitCode ?? 0));
    expect(byCode).toEqual([one, last]);
    expect(again.notes.filter((note) => note.includes(two.id))).toHaveLength(1);
    expect(again.notes.join('\n')).not.toContain(one.id);
    expect((await again.check(one.id)).output).toBe('1\n');
    expect(await rejection(() => again.check(two.id))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_TASK' });
    const more = await again.start('echo more; exit 4');
    expect(await settles(again.wait(more.id))).toMatchObject({ output: 'more\n', task: { exitCode: 4 } });
    expect(again.notes.every((note) => typeof note === 'string' && !note.includes('\n'))).toBe(true);
  });

  test('of a version that is not known yet: left as it is', async () => {
    const { dir, tasks } = await three();
    const [one, two, last] = tasks;
    const state = JSON.parse(readFileSync(stateFile(two), 'utf8')) as { version: number };
    expect(state.version).toBeGreaterThanOrEqual(1);
    const future = JSON.stringify({ ...state, version: state.version + 1, more: { of: ['it'] } });
    writeFileSync(stateFile(two), future);
    const again = registry({ dir });
    expect(
      again
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([one.id, last.id].sort());
    expect(again.notes.filter((note) => note.includes(two.id))).toEqual([expect.stringMatching(/version/)]);
    await again.start('true');
    expect(readFileSync(stateFile(two), 'utf8')).toBe(future);
    expect(logOf(two)).toContain('2\n');
  });

  test('a log that is missing', async () => {
    const { dir, tasks } = await three();
    rmSync(tasks[1].logPath);
    const again = registry({ dir });
    expect(again.list().filter(({ exitCode }) => exitCode !== 2)).toHaveLength(2);
    expect((await again.check(tasks[0].id)).output).toBe('1\n');
    const outcome = await again.check(tasks[1].id).then(
      (check) => check.output,
      (error) => error.code,
    );
    expect(outcome).toMatch(/^$|^ERR_BASH_/);
  });

  test('files of others in the directory are neither read nor removed', async () => {
    const { dir, tasks } = await three();
    const place = dirname(tasks[0].logPath);
    for (const name of ['notes.txt', 'package.json', 'a.log', '.hidden']) writeFileSync(join(place, name), 'mine');
    writeFileSync(join(dir, 'mine.json'), '{}');
    const again = registry({ dir, retentionMs: 1 });
    // An ended task is swept at once, perhaps before its start is reported.
    await again.start('sleep 1');
    expect(again.list().length).toBeLessThanOrEqual(4);
    for (const name of ['notes.txt', 'package.json', 'a.log', '.hidden']) {
      expect(readFileSync(join(place, name), 'utf8')).toBe('mine');
    }
    expect(existsSync(join(dir, 'mine.json'))).toBe(true);
  });

  test('a state file is never seen half written', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const started = await Promise.all(Array.from({ length: 30 }, (_, n) => tasks.start(`sleep .${n % 10}; exit ${n}`)));
    let left = 30;
    for (const task of started) void ended(tasks, task).then(() => left--);
    while (left > 0) {
      for (const task of started) expect(JSON.parse(readFileSync(stateFile(task), 'utf8')).version).toBeDefined();
      expect(registry({ dir }).notes).toEqual([]);
      await sleep(5);
    }
  });
});

describe('files are private', () => {
  test('0600 in a 0700 directory, whatever the umask; `dir` keeps its mode', async () => {
    const dir = folder();
    chmodSync(dir, 0o755);
    const found = await hostResult<{ logPath: string }>(
      `import { BackgroundRegistry } from 'agent-bash';
       process.umask(0);
       const registry = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
       const task = await registry.start('umask; exit 1');
       await registry.wait(task.id);
       console.log(JSON.stringify(task));`,
    );
    const place = dirname(found.logPath);
    expect([mode(dir), mode(place)]).toEqual(['755', '700']);
    const all = files(place).filter((name) => !name.endsWith('.sock'));
    expect(all.length).toBeGreaterThanOrEqual(2);
    expect(all.map((name) => [name, mode(join(place, name))])).toEqual(all.map((name) => [name, '600']));
    expect(readFileSync(found.logPath, 'utf8')).toContain('0000');
  });

  test('a `dir` that is missing is made, 0700, with its parents', async () => {
    const dir = join(tasksFolder(), 'a', 'b');
    const tasks = registry({ dir });
    await ended(tasks, await tasks.start('true'));
    expect(mode(dir)).toBe('700');
  });

  test('without `dir` too, below TMPDIR', async () => {
    const temporary = folder();
    hostEnv({ TMPDIR: temporary });
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    expect(task.logPath.startsWith(`${temporary}/`)).toBe(true);
    expect(mode(task.logPath)).toBe('600');
    for (let path = dirname(task.logPath); path !== temporary; path = dirname(path)) expect(mode(path)).toBe('700');
  });

  test('a link in the place of the directory is refused', async () => {
    const { dir, tasks } = await three();
    const place = dirname(tasks[0].logPath);
    const elsewhere = folder();
    rmSync(place, { recursive: true });
    symlinkSync(elsewhere, place);
    let error: unknown;
    try {
      error = await rejection(() => registry({ dir }).start('true'));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_BASH_/), message: expect.stringContaining(place) });
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(place);
  });

  test('a directory with loose permissions is corrected', async () => {
    const { dir, tasks } = await three();
    const place = dirname(tasks[0].logPath);
    chmodSync(place, 0o777);
    const again = registry({ dir });
    await again.start('true');
    expect(mode(place)).toBe('700');
  });
});

describe('old tasks are swept', () => {
  test.each([
    [
      'when a registry opens',
      async (dir: string) => {
        await sleep(20);
        registry({ dir, retentionMs: 1 });
      },
    ],
    [
      'when a task starts',
      async (dir: string) => {
        const tasks = registry({ dir, retentionMs: 300 });
        await sleep(320);
        await tasks.start(`sleep ${mark()}`);
      },
    ],
  ])('%s: state and log', async (_, act) => {
    const { dir, tasks } = await three();
    await act(dir);
    await until(() => tasks.every((task) => !existsSync(task.logPath) && !existsSync(stateFile(task))));
    const left = registry({ dir }).list();
    expect(left.filter(({ id }) => tasks.some((task) => task.id === id))).toEqual([]);
  });

  test('a running task stays, however old', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const tasks = registry({ dir });
    const task = await tasks.start(`echo up; ${gate()}; echo on`, { cwd });
    await heard(tasks, task, 'up');
    await sleep(20);
    const again = registry({ dir, retentionMs: 1 });
    expect(again.list()).toMatchObject([{ id: task.id, state: 'running' }]);
    open(cwd);
    await until(() => logOf(task).includes('completed'));
    expect(body(logOf(task))).toBe('up\non\n');
  });

  test('7 days are the default: newer tasks stay, through any number of openings', async () => {
    const { dir, tasks } = await three();
    for (let n = 0; n < 5; n++) await registry({ dir }).close();
    expect(registry({ dir }).list()).toHaveLength(3);
    expect(tasks.map((task) => body(logOf(task)))).toEqual(['1\n', '2\n', '3\n']);
  });

  test('counted from the end, not from the start', async () => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const task = await tasks.start('sleep 1.2; echo end');
    await ended(tasks, task);
    expect(registry({ dir, retentionMs: 60_000 }).list()).toHaveLength(1);
    const state = readFileSync(stateFile(task), 'utf8');
    expect(state).toContain(`${task.startedAt}`);
    // As if it had started 8 days ago, and ended now.
    writeFileSync(stateFile(task), state.replaceAll(`${task.startedAt}`, `${task.startedAt - 8 * 86_400_000}`));
    expect(registry({ dir }).list()).toMatchObject([{ id: task.id }]);
  });
});

describe('`maxLogBytes`: output over it is dropped, with a note, and the task goes on', () => {
  test('`yes`', async () => {
    const tasks = registry({ maxLogBytes: 100_000 });
    const cwd = folder();
    const task = await tasks.start(`yes | head -c 5000000; echo > wrote; ${gate()}; echo after; exit 3`, { cwd });
    await until(() => existsSync(join(cwd, 'wrote')));
    expect((await tasks.check(task.id)).task.state).toBe('running');
    open(cwd);
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 3 });
    const log = logOf(task);
    expect(log.startsWith('y\ny\ny\n')).toBe(true);
    expect(statSync(task.logPath).size).toBeLessThanOrEqual(101_000);
    expect(statSync(task.logPath).size).toBeGreaterThan(90_000);
    expect(log.split('\n').at(-2)).toBe('[background process failed: exit code 3]');
    const notes = log.split('\n').filter((line) => line.startsWith('[') && !line.startsWith('[background process'));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/100000|100,000|98 ?kB|log/);
  });

  test('a check says so too, and characters stay whole', async () => {
    const tasks = registry({ maxLogBytes: 1_000 });
    const task = await tasks.start('for i in {1..1000}; do printf 漢; done; echo; echo after');
    const { output } = await settles(tasks.wait(task.id));
    expect(output).not.toContain('\uFFFD');
    expect(output).toMatch(/^漢{300,333}\n?\[/);
  });

  test('1 GiB is the default', async () => {
    const tasks = registry();
    const task = await tasks.start('head -c 3000000 /dev/zero | tr "\\0" "\\n"');
    await ended(tasks, task);
    expect(body(logOf(task)).length).toBeGreaterThanOrEqual(2_999_999);
  });
});

test('a directory that a cleaner has removed is created again: a start, a move and survivors find it', async () => {
  const dir = tasksFolder();
  const tasks = registry({ dir });
  const gone = () => rmSync(dir, { recursive: true });
  gone();
  expect((await ended(tasks, await tasks.start('echo a; exit 3'))).exitCode).toBe(3);
  expect(mode(join(dir, 'tasks'))).toBe('700');
  gone();
  const moved = await settles(bash(`echo b; sleep ${mark()}`, { registry: tasks, timeoutMs: 1_500 }));
  expect(moved).toMatchObject({ status: 'backgrounded', notes: [] });
  await settles(tasks.kill(moved.pid));
  gone();
  const { survivors } = await settles(bash(`sleep ${mark()} & echo c`, { registry: tasks }));
  expect(survivors).toMatchObject([{ taskId: expect.any(String) }]);
  await settles(tasks.kill(survivors[0]?.taskId ?? ''));
});
