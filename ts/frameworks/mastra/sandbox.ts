import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
// @ts-expect-error the package is the caller's, and is not installed here
import type { WorkspaceSandbox } from '@mastra/core/workspace';
import { BashError, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { isConfined } from '../../sandbox/base.ts';
import { describe } from '../../sandbox/description.ts';
import { locate } from '../../sandbox/file.ts';
import { checkObject } from '../../tool/options.ts';
import { quoted } from '../../tool/provider.ts';
import { allEnded } from '../shared/all-ended.ts';
import { Commands } from '../shared/commands.ts';
import { overHost } from '../shared/environment.ts';
import { checkPorts, exposing } from '../shared/ports.ts';
import { told } from '../shared/told.ts';
import type { Run } from '../shared/types.ts';
import { PLACES } from './approval.ts';
import { aborted, invalidMode, notReady, notRun } from './errors.ts';
import { type CommandResult, Output } from './output.ts';
import { listens } from './ports.ts';
import { type CommandCall, type Placed, Processes } from './processes.ts';

/** Options of `mastraSandbox`. */
export type MastraSandboxOptions = Run & {
  /**
   * The name of the sandbox in Mastra.
   *
   * @default one that is unique
   * @example mastraSandbox({ id: 'project-7' });
   */
  id?: string | undefined;
  /**
   * Ports of servers that this machine may reach, also those of confined commands: `confine.expose`.
   *
   * @default []
   * @example mastraSandbox({ confine: 'workspace', ports: [3000] });
   */
  ports?: number[] | undefined;
};

const OF_SANDBOXES: OptionTable = { id: PLAIN, ports: PLAIN };
const MOST_MODE = 0o777;

/**
 * Makes the sandbox of a Mastra workspace: its tools run their commands with the options of `bash()`. Relative paths
 * start at `cwd`, which is made if it is missing. Variables of `env` are the first of `setEnv`. There is no time limit
 * without `timeoutMs`, `mode` or the limit of a call. Each stream of a command is kept up to 16 MiB, the end of it;
 * `truncate` and `reduce` change the stdout of `executeCommand`.
 *
 * What cannot run, or is refused, is a `SandboxExecutionError` with ours as its `cause`. `stop` ends all that runs and
 * all that commands have left running, and `destroy` forever. Throws `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const workspace = new Workspace({ sandbox: mastraSandbox({ cwd: '/srv/app', confine: 'workspace' }) });
 */
export function mastraSandbox(options: MastraSandboxOptions = {}): WorkspaceSandbox {
  return new Sandbox(options) as unknown as WorkspaceSandbox;
}

type Status = 'pending' | 'running' | 'stopping' | 'stopped' | 'destroying' | 'destroyed' | 'error';
type Variables = Record<string, string | undefined>;

class Sandbox {
  readonly id: string;
  readonly name = 'AgentBashSandbox';
  readonly provider = 'agent-bash';
  readonly supportsCheckpoints = false;
  readonly processes: Processes;
  readonly networking = { getPortUrl: (port: number) => this.#urlOf(port) };
  status: Status = 'pending';
  #isDestroyed = false;
  readonly #given: MastraSandboxOptions;
  readonly #commands: Commands;
  #env: Variables;
  readonly #times: { createdAt: Date; lastUsedAt?: Date } = { createdAt: new Date() };

  constructor(given: MastraSandboxOptions) {
    checkObject(given);
    const { id = `agent-bash-${randomUUID().slice(0, 8)}`, ports = [], env, ...options } = given;
    if (typeof id !== 'string') throw innerOf(bash).invalid('id', id, 'a string');
    checkPorts(ports);
    // Output that Mastra keeps whole need not be in a file, too.
    const spill = options.spill ?? (options.truncate !== undefined || options.reduce !== undefined);
    const confine = exposing(options.confine, ports);
    this.#commands = new Commands('mastraSandbox', { ...options, spill, confine }, OF_SANDBOXES);
    this.id = id;
    this.#given = given;
    this.#env = Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, value ?? undefined]));
    this.processes = new Processes(this.#commands, (call) => this.#setting(call));
    PLACES.set(this, {
      optionsIn: (cwd) => ({ ...this.#commands.options, ...this.#place(cwd) }),
      forbid: (rules) => this.#commands.forbid(rules),
      leaveAsking: () => this.#commands.leaveAsking(),
    });
  }

  async executeCommand(command: string, args: string[] = [], call: CommandCall = {}): Promise<CommandResult> {
    const line = [command, ...args.map(quoted)].join(' ');
    const { options } = this.#commands;
    const { maxRetainedBytes: kept } = call;
    const setting = this.#setting(call);
    const output = new Output(kept ?? Infinity, call, { onOutput: options.onOutput });
    const result = await this.#commands.run(line, { ...setting, onOutput: output.push }).catch((error) => {
      throw notRun(error);
    });
    const ended = await output.end(line, setting.cwd, result);
    if (kept !== undefined) return ended;
    if (result.view) return { ...ended, stdout: result.view.text, stderr: told(result, setting.cwd, true) };
    return options.truncate === undefined ? ended : { ...ended, stdout: result.stdout };
  }

  async start(): Promise<{ outcome: 'created' | 'connected' }> {
    return { outcome: this.#ready() };
  }

  stop(): Promise<void> {
    return this.#end('stopping', 'stopped');
  }

  destroy(): Promise<void> {
    return this.#end('destroying', 'destroyed');
  }

  /** There are no checkpoints. */
  async snapshot(): Promise<void> {}

  setEnv(update: (env: Variables) => Variables): void {
    this.#env = { ...update({ ...this.#env }) };
  }

  getInfo() {
    const { id, name, provider, status } = this;
    const metadata = {
      workingDirectory: this.#commands.folder,
      platform: process.platform,
      confined: this.#isConfined,
    };
    return { id, name, provider, status, ...this.#times, metadata };
  }

  getInstructions(): string {
    const { folder: cwd, options } = this.#commands;
    return describe(
      { ...options, target: this.#commands.target, cwd },
      this.#env.HOME ?? process.env.HOME ?? homedir(),
    );
  }

  clone({ id, env, workingDirectory: cwd = this.#commands.folder, sandboxId }: Clone = {}): Sandbox {
    if (sandboxId !== undefined) {
      throw new BashError('ERR_BASH_UNSUPPORTED', 'sandboxId: a sandbox of this machine cannot be attached to');
    }
    return new Sandbox({ ...this.#given, id, cwd, env: { ...this.#given.env, ...env } });
  }

  async writeFiles(
    files: { path: string; content: string | Uint8Array; mode?: number }[],
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<void> {
    this.#ready();
    const wrong = files.find(({ mode = 1 }) => !(Number.isInteger(mode) && mode >= 1 && mode <= MOST_MODE));
    if (wrong) throw invalidMode(wrong.mode);
    try {
      for (const { path, content, mode } of files) {
        abortSignal?.throwIfAborted();
        await this.#commands.disk.write(locate(this.#commands.folder, path), content, abortSignal, mode);
      }
    } catch (error) {
      throw abortSignal?.aborted ? aborted('writeFiles', abortSignal.reason) : error;
    }
  }

  get #isConfined(): boolean {
    return isConfined(this.#commands.options);
  }

  /** Makes the sandbox run if it does not. Returns whether its directory was made for that. */
  #ready(): 'created' | 'connected' {
    if (this.status === 'stopping' || this.#isDestroyed) throw notReady(this.id);
    this.#times.lastUsedAt = new Date();
    if (this.status === 'running') return 'connected';
    const made = mkdirSync(this.#commands.folder, { recursive: true });
    this.status = 'running';
    return made === undefined ? 'connected' : 'created';
  }

  /** Returns the options of a call. Throws if nothing may run. */
  #setting({ cwd, env, abortSignal, timeout }: CommandCall): Placed {
    this.#ready();
    return { ...this.#place(cwd, env), signal: abortSignal, timeoutMs: timeout ? Math.ceil(timeout) : undefined };
  }

  #place(cwd = '.', env: Variables = {}) {
    return { cwd: resolve(this.#commands.folder, cwd), env: { ...overHost(this.#env), ...overHost(env) } };
  }

  async #end(during: Status, after: Status): Promise<void> {
    const isOver = this.#isDestroyed;
    this.#isDestroyed ||= during === 'destroying';
    if (!isOver) this.status = during;
    try {
      await allEnded([this.#commands.close(), this.processes.end()]);
      if (this.status === during) this.status = after;
    } catch (error) {
      if (!isOver) this.status = 'error';
      throw error;
    }
  }

  /** A port that confined commands cannot be reached on is another program's. */
  async #urlOf(port: number): Promise<string | null> {
    const isOurs = !this.#isConfined || this.#given.ports?.includes(port);
    return isOurs && (await listens(port)) ? `http://127.0.0.1:${port}` : null;
  }
}

/** The options of a clone that have an effect here. */
interface Clone {
  id?: string | undefined;
  sandboxId?: string | undefined;
  env?: Record<string, string> | undefined;
  workingDirectory?: string | undefined;
}
