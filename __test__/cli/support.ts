import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { packageRoot, stateFolder, until } from '../support/index.ts';

/** The built program. */
export const PROGRAM = join(packageRoot, 'dist/cli.mjs');

/** How a run of the program ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A run of the program. */
export interface Run {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Waits for printed text. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
}

/** The program for one test, with a directory as the user's own. Its tasks are ended with the test. */
export class Program {
  /** `XDG_STATE_HOME`. */
  readonly state = stateFolder();
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#env = { ...process.env, XDG_STATE_HOME: this.state, NODE_OPTIONS: '', ...env };
    for (const name of ['NO_COLOR', 'FORCE_COLOR']) if (!(name in env)) delete this.#env[name];
    onTestFinished(async () => {
      if (!this.#mayHaveTasks()) return;
      const { code, stdout } = await this.run('ps', '--running', '--json');
      // A test may have removed variables of it.
      const ids = code === 0 ? (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id) : [];
      if (ids.length > 0) await this.run('kill', ...ids);
    });
  }

  /** Returns whether a task was started, as far as its directory is known. */
  #mayHaveTasks(): boolean {
    const { XDG_STATE_HOME } = this.#env;
    if (!XDG_STATE_HOME) return true;
    const tasks = join(XDG_STATE_HOME, 'agent-bash/tasks');
    return existsSync(tasks) && readdirSync(tasks).some((name) => name.endsWith('.json'));
  }

  start(args: string[], stdio: StdioOptions = ['ignore', 'pipe', 'pipe'], cwd?: string): Run {
    const child = spawn(process.execPath, [PROGRAM, ...args], { env: this.#env, stdio, ...(cwd && { cwd }) });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
    return {
      child,
      ended,
      stdout: () => stdout,
      stderr: () => stderr,
      says: (pattern) => until(() => pattern.exec(stdout), `${pattern} in the output of ${args.join(' ')}`),
    };
  }

  /** Runs it to its end. */
  run(...args: string[]): Promise<Ended> {
    return this.start(args).ended;
  }

  /** Runs it with `--json`; gives the value that it prints. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }
}
