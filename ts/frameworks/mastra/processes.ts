import { type BashOptions, bash } from 'agent-bash';
import { linkedAbort } from '../../core/abort.ts';
import { type Input, withStreams } from '../../core/streams.ts';
import { allEnded } from '../shared/all-ended.ts';
import type { Command, Commands } from '../shared/commands.ts';
import type { Lifetime } from '../shared/lifetime.ts';
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
  /** What runs or was left running, also by processes that are forgotten, with the process once it has started. */
  readonly #lifetimes = new Map<Lifetime, Process | null>();

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
    const { controller, unlink } = linkedAbort([setting.signal]);
    const { begun, start } = holding(fed, () => output.waited());
    const { signal } = controller;
    const lifetime = this.#commands.lifetime.within();
    this.#lifetimes.set(lifetime, null);
    const held = { ...setting, signal, start, lifetime, sanitize: false, onOutput: output.push };
    const running = this.#commands.run(command, held);
    const ended = running.finally(unlink).then((result) => output.end(command, setting.cwd, result));
    ended.catch(() => {});
    const forget = () => void this.#lifetimes.delete(lifetime);
    running.then(({ survivors }) => {
      if (survivors.length === 0) forget();
    }, forget);
    const first = await Promise.race([begun, ended.then(() => null)]).catch((error) => {
      throw notRun(error);
    });
    if (first === null) throw aborted('spawn', setting.signal?.reason);
    const { pid, input } = first;
    const abort = () => controller.abort();
    const end = () => lifetime.end().then(forget);
    const process = new Process({ command, pid, output, input: fed ? input : null, ended, abort, end });
    if (this.#lifetimes.has(lifetime)) this.#lifetimes.set(lifetime, process);
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
    const left = [...this.#lifetimes.values()].reverse();
    const process = this.#processes.get(pid) ?? left.find((one) => one?.pid === pid);
    this.release(pid);
    return (await process?.kill()) ?? false;
  }

  /** Ends all processes, and all that they have left running. */
  async end(): Promise<void> {
    const killed = [...this.#processes.keys()].map((pid) => this.kill(pid));
    await allEnded([...killed, ...[...this.#lifetimes.keys()].map((lifetime) => lifetime.end())]);
  }

  #add(process: Process): void {
    const ended = [...this.#processes.values()].filter(({ exitCode }) => exitCode !== undefined);
    for (const { pid } of ended.slice(0, -KEPT_ENDED)) this.release(pid);
    // A pid that the system gives again is that of the new process.
    this.release(process.pid);
    this.#processes.set(process.pid, process);
  }
}

/** Returns a start of commands that tells their pid and input. `over` is called when the shell has exited. */
function holding(fed: boolean, over: () => void) {
  let began: (first: { pid: number; input: Input }) => void = () => {};
  const begun = new Promise<{ pid: number; input: Input }>((resolve) => {
    began = resolve;
  });
  const streams = { bytes: false, fed, over, started: (pid: number, input: Input) => began({ pid, input }) };
  const start = (command: string, options: BashOptions) => bash(command, withStreams(options, streams));
  return { begun, start };
}
