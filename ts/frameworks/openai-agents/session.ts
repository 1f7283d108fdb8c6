import type { BashOptions } from 'agent-bash';
import type { Commands } from '../shared/commands.ts';
import { refusal, told, withTold } from '../shared/told.ts';
import { cutTo, type End, Live } from './live.ts';
import type { ExecArgs, ExecResult, Local, Session, StdinArgs } from './types.ts';

/** The time that the framework waits for a command, and after its input, in ms. */
const YIELD_MS = { exec: 10_000, stdin: 250 };
/** The exit code of a command that did not run. */
const NOT_RUN = 126;
/** Shells that a model may ask for. Another program would not run the text that was judged. */
const SHELLS = /^(\/(usr\/(local\/)?|opt\/homebrew\/)?bin\/)?(ba|da|k|z)?sh$/;

/** Gives a session of the framework our `exec`, `execCommand`, `writeStdin` and `stop`, on which its ends build. */
export function withShell<T extends Session>(session: T, local: Local, commands: Commands): T {
  const shell = new Shell(session, local, commands);
  return Object.assign(session, {
    exec: (args: ExecArgs) => shell.exec(args, commands.options.merge ?? false),
    execCommand: async (args: ExecArgs) => shell.format(await shell.exec(args, true)),
    writeStdin: (args: StdinArgs) => shell.writeStdin(args),
    stop: () => shell.stop(),
  });
}

/** The commands of one session. */
class Shell {
  readonly #session: Session;
  readonly #local: Local;
  readonly #commands: Commands;
  /** The framework's own methods. */
  readonly #own: Pick<Session, 'execCommand' | 'writeStdin' | 'stop'>;
  readonly #going = new Map<number, Live>();
  #lastId = 0;

  constructor(session: Session, local: Local, commands: Commands) {
    this.#session = session;
    this.#local = local;
    this.#commands = commands;
    const { execCommand, writeStdin, stop } = session;
    this.#own = { execCommand, writeStdin, stop };
  }

  async exec(args: ExecArgs, merge: boolean): Promise<ExecResult> {
    const { cmd, workdir, shell, tty = false, yieldTimeMs = YIELD_MS.exec, maxOutputTokens, runAs } = args;
    this.#session.assertSessionUsable();
    const begun = performance.now();
    const cwd = this.#session.resolveCommandWorkdir(workdir);
    await this.#checkUser(runAs);
    const command = this.#session.translateCommandInput(cmd);
    const { PWD, ...env } = this.#session.state.environment;
    const own = { cwd, env, merge, ...(shell && { shell }), sanitize: asItComes(this.#commands.options.sanitize) };
    const live = new Live(tty, this.#commands.options.sanitize, async (held) => {
      try {
        if (shell && !SHELLS.test(shell)) throw new Error(`${shell} is no shell whose commands can be judged`);
        const result = await this.#commands.run(command, { ...own, ...held });
        const { exitCode, view } = result;
        return { exitCode: exitCode ?? NOT_RUN, told: told(result, cwd, true), view: view?.text };
      } catch (error) {
        return { exitCode: NOT_RUN, told: refusal(error) };
      }
    });
    return this.#read(live, { begun, yieldTimeMs, maxOutputTokens });
  }

  async writeStdin(args: StdinArgs): Promise<string> {
    const { sessionId, chars = '', yieldTimeMs = YIELD_MS.stdin, maxOutputTokens } = args;
    const live = this.#going.get(sessionId);
    if (live === undefined) return this.#own.writeStdin.call(this.#session, args);
    this.#session.assertSessionUsable();
    const begun = performance.now();
    live.type(chars);
    return this.format(await this.#read(live, { begun, yieldTimeMs, maxOutputTokens }, sessionId));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#own.stop.call(this.#session), this.#commands.close()]);
    this.#going.clear();
  }

  /** Returns a result in the framework's words. */
  format(result: ExecResult): Promise<string> {
    return this.#own.execCommand.call({ exec: async () => result } as never, { cmd: '' });
  }

  async #read(
    live: Live,
    {
      begun,
      yieldTimeMs,
      maxOutputTokens,
    }: { begun: number; yieldTimeMs: number; maxOutputTokens: number | undefined },
    knownId?: number,
  ): Promise<ExecResult> {
    const { end, ...streams } = await live.read(yieldTimeMs);
    const translated = (text: string) => this.#session.translateCommandOutput(text);
    const { text, originalTokenCount } = cutTo(maxOutputTokens, translated(streams.output));
    const more = translated(end?.told ?? '');
    return {
      output: withTold(text, more),
      stdout: translated(streams.stdout),
      stderr: withTold(translated(streams.stderr), more),
      wallTimeSeconds: (performance.now() - begun) / 1_000,
      ...this.#state(live, end, knownId),
      ...(originalTokenCount !== undefined && { originalTokenCount }),
    };
  }

  /** Returns how a command ended, or the id under which it goes on. */
  #state(live: Live, end: End | null, knownId = this.#lastId + 1): Pick<ExecResult, 'exitCode' | 'sessionId'> {
    if (end) {
      this.#going.delete(knownId);
      return { exitCode: end.exitCode };
    }
    this.#lastId = Math.max(this.#lastId, knownId);
    this.#going.set(knownId, live);
    return { sessionId: knownId };
  }

  async #checkUser(runAs: string | undefined): Promise<void> {
    const identity = await this.#session.resolveRunAsIdentity(runAs);
    if (identity === undefined || identity.isCurrentUser) return;
    const details = { provider: 'agent_bash', feature: 'runAs', runAs };
    throw new this.#local.SandboxUnsupportedFeatureError('Commands run as the user of this process.', details);
  }
}

/** Returns how output is cleaned that is read before its line has ended. */
function asItComes(sanitize: BashOptions['sanitize'] = true): BashOptions['sanitize'] {
  if (sanitize === false) return false;
  return { ...(sanitize !== true && sanitize), progress: 'keep' };
}
