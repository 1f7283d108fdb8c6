import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackgroundCheck, BackgroundRegistry, type BackgroundTask, type BashResult } from 'agent-bash';
import { expect } from 'vitest';
import {
  alive,
  finished,
  folder,
  type Host,
  type HostOptions,
  host,
  kill,
  mark,
  processOf,
  settles,
  until,
  WAIT,
} from '../support/index.ts';

export type RegistryOptions = ConstructorParameters<typeof BackgroundRegistry>[0];

/** A bound in ms on work that includes a grace of 2 s, against a hang. */
export const SOON = 2 * WAIT;

/** A registry that is closed after the test, with its tasks ended. */
export function registry(options?: RegistryOptions): BackgroundRegistry {
  const opened = new BackgroundRegistry(options);
  finished(async () => {
    await opened.killAll().catch((error: { code?: string }) => {
      // The test has closed it.
      if (error.code !== 'ERR_BASH_CLOSED') throw error;
    });
    await opened.close();
  });
  return opened;
}

/** A directory for registries of this test alone. Whatever still runs in it is ended after the test. */
export function tasksFolder(): string {
  const dir = folder();
  finished(async () => {
    const last = new BackgroundRegistry({ dir });
    await last.killAll();
    await last.close();
  });
  return dir;
}

/** Another Node process with `registry` open, and `say` to print a line of JSON. */
export function tasksHost(options: RegistryOptions, source: string, hostOptions?: HostOptions): Host {
  return host(
    `import { BackgroundRegistry } from 'agent-bash';
     const say = (value) => console.log(JSON.stringify(value));
     void say;
     const registry = new BackgroundRegistry(${JSON.stringify(options ?? {})});
     ${source}`,
    hostOptions,
  );
}

/** A process with a task that has printed `before` and sleeps. */
export async function hostOfSleeper(dir: string): Promise<{ one: Host; task: BackgroundTask }> {
  const start = `say(await registry.start('echo before; sleep ${mark()}')); setInterval(() => {}, 1e3);`;
  const one = tasksHost({ dir }, start);
  const task = await said<BackgroundTask>(one);
  await until(() => logOf(task) === 'before\n');
  return { one, task };
}

/** The same, killed with its shim and the task itself. */
export async function killedSleeper(dir: string): Promise<BackgroundTask> {
  const { one, task } = await hostOfSleeper(dir);
  const shim = shimOf(task);
  one.process.kill('SIGKILL');
  await one.ended();
  for (const pid of [shim, task.pid]) kill(pid, 'SIGKILL');
  await until(() => !alive(shim) && !alive(task.pid));
  return task;
}

/** Returns the n-th line (from 0) that such a process has printed. */
export async function said<T>(one: Host, n = 0): Promise<T> {
  const lines = await until(
    () => {
      const over = one.process.stdout?.readableEnded;
      const complete = one.stdout().split('\n').slice(0, -1);
      if (over && complete.length <= n) throw new Error(`the host has ended without line ${n}`);
      return complete.length > n && complete;
    },
    `line ${n} of the host`,
    SOON,
  ).catch((error: Error) => {
    throw new Error(`${error.message}; it said: ${one.stdout()}${one.stderr()}`);
  });
  return JSON.parse(lines[n] ?? '') as T;
}

/** Waits for the end of a task. */
export async function ended(tasks: BackgroundRegistry, task: Pick<BackgroundTask, 'id'>): Promise<BackgroundTask> {
  return (await settles(tasks.wait(task.id), SOON)).task;
}

/** Waits for text of a task. Returns the check. */
export function heard(
  tasks: BackgroundRegistry,
  task: Pick<BackgroundTask, 'id'>,
  pattern: string | RegExp,
): Promise<BackgroundCheck> {
  return settles(tasks.wait(task.id, { pattern }), SOON);
}

/** Returns the task of a command that was moved to the background. */
export function movedOf(result: BashResult): BackgroundTask {
  expect(result).toMatchObject({ status: 'backgrounded', exitCode: null, signal: null });
  if (!result.background) throw new Error('no task');
  return result.background;
}

/** Shell text that continues after a call of `open(cwd, name)`. */
export const gate = (name = 'go') => `until [ -e ${name} ]; do sleep .02; done`;

export function open(cwd: string, name = 'go'): void {
  writeFileSync(join(cwd, name), '');
}

/** Put before shell text: bash reports children that a signal has ended on stderr. */
export const quiet = 'exec 2>/dev/null; ';

export const logOf = ({ logPath }: Pick<BackgroundTask, 'logPath'>) => readFileSync(logPath, 'utf8');

const closing = /^\[background process (?:completed|failed: exit code \d+|killed: SIG\w+|lost: [^\n]*)\]$/gm;

/** Returns the closing lines of a log: one, once its task has ended. */
export function closings(log: string): string[] {
  return log.match(closing) ?? [];
}

/** A log without its closing line. */
export function body(log: string): string {
  const last = log.lastIndexOf('\n', log.length - 2) + 1;
  return closings(log.slice(last)).length > 0 ? log.slice(0, last) : log;
}

/** The shim of a running task. */
export function shimOf(task: Pick<BackgroundTask, 'pid'>): number {
  const shim = processOf(processOf(task.pid)?.ppid ?? 0);
  // Every process found here will be killed.
  if (!shim || !/agent-bash-s/.test(`${shim.name} ${shim.argv[0]}`)) throw new Error(`no shim above ${task.pid}`);
  return shim.pid;
}

/** Lists all files below a directory, as relative paths, without directories and the lock of a registry. */
export function files(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory() && entry.name !== 'lock')
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
}

/** The file that holds the state of a task. */
export const stateFile = ({ id, logPath }: BackgroundTask) => join(logPath, '..', `${id}.json`);

/** Linux: live processes that have `text` in their initial environment. */
export function carrying(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && processOf(Number(name))?.state !== 'Z')
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/**
 * Checks numbered lines of both streams, `o N` and `e N`, with characters of three and four bytes. Each stream must be
 * complete from 1 on, or with `rest` from any number. Returns the last number of each. 0 means none.
 */
export function gapless(text: string, rest = false): { o: number; e: number } {
  const last = { o: 0, e: 0 };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, stream, number] = /^([oe]) (\d+) 漢😀$/.exec(line) ?? [];
    if (stream !== 'o' && stream !== 'e') throw new Error(`no numbered line: ${JSON.stringify(line)}`);
    if (rest && last[stream] === 0) last[stream] = Number(number) - 1;
    if (Number(number) !== last[stream] + 1) throw new Error(`${stream} ${number} comes after ${last[stream]}`);
    last[stream] += 1;
  }
  return last;
}

/** Shell text that writes such lines, with a pause of `seconds` after every `every` of them. */
export function numbered(count: number, every = 0, seconds = '.02'): string {
  const pause = every ? `; ((i % ${every})) || sleep ${seconds}` : '';
  return `for ((i = 1; i <= ${count}; i++)); do echo "o $i 漢😀"; echo "e $i 漢😀" >&2${pause}; done`;
}
