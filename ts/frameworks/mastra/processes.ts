import { allEnded } from '../shared/all-ended.ts';
import type { Command, Commands } from '../shared/commands.ts';
import { RunningCommand } from '../shared/running-command.ts';
import { KEPT_BYTES } from '../shared/tail.ts';
import { aborted, notRun } from './errors.ts';
import { type Listeners, Output } from './output.ts';
import { Process } from './process.ts';

/** The options of a command in Mastra. */
export interface CommandCall extends Listeners {
  /** In ms. */
  timeout?: number | undefined;
  env?: Record<string, string | undefined> | undefined;
  cwd?: string | undefined;
  abortSignal?: AbortSignal | undefined;
  /** What is kept of each stream. 0 keeps nothing. */
  maxRetainedBytes?: number | undefined;
}

/** The options of a call. Its directory is absolute. */
export type Placed = Command & { cwd: string };

/** How many processes are kept that have ended. */
const KEPT_ENDED = 100;

/** The processes of a sandbox, with the members of Mastra's `SandboxProcessManager`. */
export class Processes {
  readonly #commands: Commands;
  readonly #setting: (options: CommandCall) => Placed;
  readonly #processes = new Map<string, Process>();
  /** What runs or has left something running, also if its process is forgotten, with that once it has started. */
  readonly #running = new Map<RunningCommand, Process | null>();

  /** `setting` returns the options of a command, and throws if the sandbox is not ready. */
  constructor(commands: Commands, setting: (options: CommandCall) => Placed) {
    this.#commands = commands;
    this.#setting = setting;
  }

  /**
   * Starts a process. Its output is heard and read as it comes. What is kept is cleaned, unless a protocol may be
   * spoken with its input (`stdinMode: 'pipe'`).
   */
  async spawn(command: string, options: CommandCall & { stdinMode?: 'pipe' | 'ignore' } = {}): Promise<Process> {
    const setting = this.#setting(options);
    const fed = options.stdinMode !== 'ignore';
    const { sanitize = !fed, onOutput } = this.#commands.options;
    const output = new Output(options.maxRetainedBytes ?? KEPT_BYTES, options, { sanitize, onOutput });
    const call = { ...setting, sanitize: false, onOutput: output.push };
    const running = new RunningCommand(this.#commands, command, call, {
      fed,
      onExited: () => output.waited(),
      onGone: () => this.#running.delete(running),
    });
    this.#running.set(running, null);
    const ended = running.ended.then((result) => output.end(command, setting.cwd, result));
    ended.catch(() => {});
    const pid = await running.started.catch((error) => {
      throw notRun(error);
    });
    if (pid === null) throw aborted('spawn', setting.signal?.reason);
    const process = new Process(pid, command, running, output, ended);
    if (this.#running.has(running)) this.#running.set(running, process);
    this.#add(process);
    return process;
  }

  async list() {
    return [...this.#processes.values()].map(({ pid, command, exitCode }) => ({
      pid,
      command,
      running: exitCode === undefined,
      ...(exitCode !== undefined && { exitCode }),
    }));
  }

  /** Returns a process. One that has ended is forgotten then, as in Mastra. */
  async get(pid: string): Promise<Process | undefined> {
    const process = this.#processes.get(pid);
    if (process?.exitCode !== undefined) this.release(pid);
    return process;
  }

  release(pid: string): void {
    this.#processes.delete(pid);
  }

  /** Ends a process and all that it started, also if it has exited and is forgotten. `true` if it had not exited. */
  async kill(pid: string): Promise<boolean> {
    // The tools of Mastra call `get` first, which forgets a process that has exited.
    const left = [...this.#running.values()].reverse();
    const process = this.#processes.get(pid) ?? left.find((one) => one?.pid === pid);
    this.release(pid);
    return (await process?.kill()) ?? false;
  }

  /** Ends all processes, and all that they have left running. */
  async end(): Promise<void> {
    const killed = [...this.#processes.keys()].map((pid) => this.kill(pid));
    await allEnded([...killed, ...[...this.#running.keys()].map((running) => running.end())]);
  }

  #add(process: Process): void {
    const ended = [...this.#processes.values()].filter(({ exitCode }) => exitCode !== undefined);
    for (const { pid } of ended.slice(0, -KEPT_ENDED)) this.release(pid);
    // A pid that the system gives again is that of the new process.
    this.release(process.pid);
    this.#processes.set(process.pid, process);
  }
}
