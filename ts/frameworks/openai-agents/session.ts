import { BashError } from 'agent-bash';
import type { PrivateHome } from '../../sandbox/session/home.ts';
import { NOT_RUN } from '../../tool/call/judge.ts';
import { allEnded } from '../shared/all-ended.ts';
import type { Commands, Settled } from '../shared/commands.ts';
import { bothEnds, Live } from '../shared/live.ts';
import { withTold } from '../shared/told.ts';
import type { ExecArgs, ExecResult, Local, Session, StdinArgs } from './types.ts';

/** The time that the framework waits for a command, and after its input, in ms. */
const YIELD_MS = { exec: 10_000, stdin: 250 };
const BYTES_PER_TOKEN = 4;
/** The most that can be kept of an output, in bytes. */
const MOST_KEPT = 16 * 1024 * 1024;
/** Shells that a model may ask for. Another program would not run the text that was judged. */
const SHELLS = /^(\/(usr\/(local\/)?|opt\/homebrew\/)?bin\/)?(ba|da|k|z)?sh$/;

/** What a session runs its commands with. */
interface Setup {
  local: Local;
  commands: Commands;
  /** The home of the commands, if it is not the workspace. It goes when nobody holds it. */
  home: PrivateHome | null;
}

/** Gives a session of the framework our `exec`, `execCommand`, `writeStdin` and `stop`, with which it also closes. */
export function withShell<T extends Session>(session: T, setup: Setup): T {
  const shell = new Shell(session, setup);
  return Object.assign(session, {
    exec: (args: ExecArgs) => shell.exec(args, setup.commands.options.merge ?? false),
    execCommand: async (args: ExecArgs) => shell.format(await shell.exec(args, true)),
    writeStdin: (args: StdinArgs) => shell.writeStdin(args),
    stop: () => shell.stop(),
  });
}

/** A read of a command. */
type Reading = { id: number; begun: number; yieldTimeMs: number; maxOutputTokens: number | undefined };

/** The commands of one session. */
class Shell {
  readonly #session: Session;
  readonly #setup: Setup;
  /** The framework's own methods. */
  readonly #own: Pick<Session, 'execCommand' | 'writeStdin' | 'stop'>;
  readonly #going = new Map<number, Live<Settled>>();
  #lastId = 0;
  #stops = 0;

  constructor(session: Session, setup: Setup) {
    this.#session = session;
    this.#setup = setup;
    const { execCommand, writeStdin, stop } = session;
    this.#own = { execCommand, writeStdin, stop };
  }

  async exec(args: ExecArgs, merge: boolean): Promise<ExecResult> {
    const { cmd, workdir, shell, tty = false, yieldTimeMs = YIELD_MS.exec, maxOutputTokens, runAs } = args;
    const begun = performance.now();
    this.#session.assertSessionUsable();
    const cwd = this.#session.resolveCommandWorkdir(workdir);
    const stops = this.#stops;
    await this.#checkUser(runAs);
    if (this.#stops !== stops) throw new BashError('ERR_BASH_CLOSED', 'the session was stopped: nothing was run');
    const { commands } = this.#setup;
    const { PWD, ...env } = this.#session.state.environment;
    const command = this.#session.translateCommandInput(cmd);
    const live = new Live<Settled>({ tty, sanitize: commands.options.sanitize }, (held) =>
      commands.settle(command, () => {
        if (shell && !SHELLS.test(shell)) throw new Error(`${shell} is no shell that a model may choose`);
        return { cwd, env, merge, shell: shell || undefined, ...held };
      }),
    );
    this.#lastId += 1;
    return await this.#read(live, { id: this.#lastId, begun, yieldTimeMs, maxOutputTokens });
  }

  async writeStdin(args: StdinArgs): Promise<string> {
    const { sessionId: id, chars = '', yieldTimeMs = YIELD_MS.stdin, maxOutputTokens } = args;
    const live = this.#going.get(id);
    if (live === undefined) return this.#own.writeStdin.call(this.#session, args);
    this.#session.assertSessionUsable();
    const begun = performance.now();
    live.type(chars);
    return this.format(await this.#read(live, { id, begun, yieldTimeMs, maxOutputTokens }));
  }

  async stop(): Promise<void> {
    this.#stops += 1;
    const ends = [this.#own.stop.call(this.#session), this.#setup.commands.close()];
    await allEnded(ends).finally(() => this.#going.clear());
  }

  /** Returns a result in the framework's words. */
  format(result: ExecResult): Promise<string> {
    return this.#own.execCommand.call({ exec: async () => result } as never, { cmd: '' });
  }

  async #read(live: Live<Settled>, { id, begun, yieldTimeMs, maxOutputTokens }: Reading): Promise<ExecResult> {
    const { end, first, output, stdout, stderr } = await live.read(yieldTimeMs);
    if (end) this.#going.delete(id);
    else this.#going.set(id, live);
    const translated = (text: string) => this.#session.translateCommandOutput(text);
    const maxBytes = Math.min(Math.max(maxOutputTokens ?? MOST_KEPT, 1) * BYTES_PER_TOKEN, MOST_KEPT);
    const shown = first && end?.view ? { text: end.view, notice: '', ofBytes: null } : output;
    // A cut of the notice as well would cost the last lines.
    const cut = bothEnds(translated(shown.text), maxBytes);
    const ofBytes = shown.ofBytes ?? cut.ofBytes;
    const more = translated(end?.more ?? '');
    return {
      output: withTold(cut.text + shown.notice, more),
      stdout: translated(stdout.text) + stdout.notice,
      stderr: withTold(translated(stderr.text) + stderr.notice, more),
      wallTimeSeconds: (performance.now() - begun) / 1_000,
      ...(end ? { exitCode: end.exitCode ?? NOT_RUN } : { sessionId: id }),
      ...(ofBytes !== null && { originalTokenCount: Math.ceil(ofBytes / BYTES_PER_TOKEN) }),
    };
  }

  async #checkUser(runAs: string | undefined): Promise<void> {
    const identity = await this.#session.resolveRunAsIdentity(runAs);
    if (identity === undefined || identity.isCurrentUser) return;
    const details = { provider: 'agent_bash', feature: 'runAs', runAs };
    throw new this.#setup.local.SandboxUnsupportedFeatureError('commands run as the user of this process', details);
  }
}
