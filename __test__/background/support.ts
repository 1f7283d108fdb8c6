import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type BackgroundCheck, BackgroundRegistry, type BackgroundTask, type BashResult } from 'agent-bash';
import { expect, onTestFinished } from 'vitest';
import { folder, type Host, type HostOptions, host, processOf, settles, until } from '../support/index.ts';

export type RegistryOptions = ConstructorParameters<typeof BackgroundRegistry>[0];

/** A bound in ms on what has a grace of 2 s in it, against a hang. */
export const SOON = 40_000;

/** A registry whose tasks are ended, and which is closed, when the test has finished. */
export function registry(options?: RegistryOptions): BackgroundRegistry {
  const opened = new BackgroundRegistry(options);
  onTestFinished(async () => {
    await opened.killAll().catch((error: { code?: string }) => {
      // The test has closed it.
      if (error.code !== 'ERR_BASH_CLOSED') throw error;
    });
    await opened.close();
  });
  return opened;
}

/** A folder for registries of this test alone: whatever still runs there when it has finished is ended. */
export function tasksFolder(): string {
  const dir = folder();
  onTestFinished(async () => {
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

/** The n-th line (from 0) that such a process has said. */
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

/** Waits for text of a task; gives the check. */
export function heard(
  tasks: BackgroundRegistry,
  task: Pick<BackgroundTask, 'id'>,
  pattern: string | RegExp,
): Promise<BackgroundCheck> {
  return settles(tasks.wait(task.id, { pattern }), SOON);
}

/** The task of a result that has to be one of a command that was moved. */
export function movedOf(result: BashResult): BackgroundTask {
  expect(result).toMatchObject({ status: 'backgrounded', exitCode: null, signal: null });
  if (!result.background) throw new Error('no task');
  return result.background;
}

/** Shell text that goes on once `open(cwd, name)` was called. */
export const gate = (name = 'go') => `until [ -e ${name} ]; do sleep .02; done`;

export function open(cwd: string, name = 'go'): void {
  writeFileSync(join(cwd, name), '');
}

/** In front of shell text: bash tells on stderr of children that a signal has ended. */
export const quiet = 'exec 2>/dev/null; ';

export const logOf = ({ logPath }: Pick<BackgroundTask, 'logPath'>) => readFileSync(logPath, 'utf8');

const closing = /^\[background process (?:completed|failed: exit code \d+|killed: SIG\w+|lost: [^\n]*)\]$/gm;

/** The closing lines of a log: one, once its task has ended. */
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
  // What is found here is going to be killed.
  if (!shim || !/agent-bash-s/.test(`${shim.name} ${shim.argv[0]}`)) throw new Error(`no shim above ${task.pid}`);
  return shim.pid;
}

/** All files below a folder, as paths in it; folders are not listed. */
export function files(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
}

/** The file that holds the state of a task. */
export const stateFile = ({ id, logPath }: BackgroundTask) => join(logPath, '..', `${id}.json`);

/** Linux: living processes that have `text` in the environment they were started with. */
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

/** A port of 127.0.0.1 that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/**
 * Numbered lines of both streams, `o N` and `e N`, with characters of three and four bytes: each stream must be there from 1
 * on without a gap, or with `rest` from wherever it begins. Gives how far both got; 0 is none.
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

/** Shell text that writes such lines, and pauses `seconds` after each `every` of them. */
export function numbered(count: number, every = 0, seconds = '.02'): string {
  const pause = every ? `; ((i % ${every})) || sleep ${seconds}` : '';
  return `for ((i = 1; i <= ${count}; i++)); do echo "o $i 漢😀"; echo "e $i 漢😀" >&2${pause}; done`;
}
