import type {
  BashResult,
  NativeEvent,
  NativeTerminal,
  TerminalModes,
  TerminalScreen,
  TerminalWaited,
} from '../native.cjs';
import { hold, settled, theBridge } from './bridge';
import { constants } from './builtins';
import { BashError } from './errors';
import { loadNative } from './native';
import { Observer } from './observe/observer';
import { checkOptions, invalid } from './options';
import { type DataListener, type EndListener, PtyListeners } from './pty-listeners';
import { checkWait, type PtyOptions, type PtyWaitOptions, sizeOf } from './pty-options';
import { patternOf } from './registry-options';
import { folder, toNative } from './request';
import { tell } from './run';

/**
 * A command in a pseudo-terminal of its own: what an editor, a REPL or a menu wants. It sees what a person's terminal would be,
 * a controlling terminal with TERM=xterm-256color and without the defaults for unattended commands; all else is as with `bash()`:
 * safety, environment, limits, and that nothing is left behind. One terminal runs one command.
 *
 * It has no time limit unless `timeoutMs` is given. A command does not move to the background: at its limit it is ended, and
 * `registry`, `onTimeout`, `merge` and `warm` make no difference.
 */
export class PtySession {
  readonly #native: NativeTerminal;
  readonly #options: BashOptionsOfTerminal;
  readonly #listeners: PtyListeners;
  #started: Promise<{ pid: number }> | null = null;
  #result: Promise<BashResult> | null = null;
  #command = 0;
  #observer: Observer | undefined;
  #ended = false;

  /**
   * `cols` and `rows` are whole numbers from 1 to 65,535, default 80 × 24; the screen is kept for at most 1,000 of each. The other
   * options are those of `bash()`; `stdin` (what a program reads is typed, see `write`), mode and onTimeout `'background'` are refused.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG` for options that cannot be. Starts nothing.
   */
  constructor(options: PtyOptions = {}) {
    checkOptions('', options);
    const { cols = 80, rows = 24, ...others } = options;
    for (const [name, value] of [
      ['mode', others.mode],
      ['onTimeout', others.onTimeout],
    ] as const) {
      if (value === 'background') throw invalid(name, value, 'something else: a task has no terminal');
    }
    if (others.stdin !== undefined) {
      throw new BashError('ERR_BASH_INVALID_ARG', 'stdin: what a program in a terminal reads is typed, see write()');
    }
    this.#native = new (loadNative().NativeTerminal)(theBridge(), ...sizeOf(cols, rows));
    const { registry, onTimeout, ...own } = others;
    this.#options = own;
    this.#listeners = new PtyListeners((on) => {
      this.#native.listened(on);
      // Nobody is waited for any longer.
      if (!on) this.#native.heard();
    });
  }

  /**
   * Starts the command, and resolves with the pid of its shell once that runs (0 where `signal` was aborted before: nothing is
   * started then). Events begin after that. Rejects as `bash()` does, and with `ERR_BASH_UNSUPPORTED` where the system has no
   * pseudo-terminal to give or `AGENT_BASH_NO_PTY=1` is set; it may be called again then. A second command is `ERR_BASH_INVALID_ARG`.
   */
  start(command: string): Promise<{ pid: number }> {
    if (this.#started) return Promise.reject(used());
    const started = this.#start(command);
    this.#started = started;
    started.catch(() => {
      this.#started = null;
      this.#result = null;
    });
    return started;
  }

  async #start(command: string): Promise<{ pid: number }> {
    checkOptions(command, this.#options);
    if (process.env.AGENT_BASH_NO_PTY === '1') {
      throw new BashError('ERR_BASH_UNSUPPORTED', 'pseudo-terminals are turned off here (AGENT_BASH_NO_PTY=1)');
    }
    const observer = Observer.of('terminal', command, this.#options, () => folder(this.#options.cwd));
    this.#observer = observer;
    const request = toNative(command, this.#options, observer);
    return new Promise((resolve, reject) => {
      let begun = false;
      const ran = settled<BashResult>({
        ask: () => {
          this.#command = this.#native.start(...request);
          return this.#command;
        },
        answer: (event) => event.result,
        meanwhile: (way, event) => {
          if (event.started !== undefined) {
            begun = true;
            observer?.started(event.started, event.cwd);
            resolve({ pid: event.started });
            // What nobody listens to is not kept, and those who wait for this are only about to.
            setImmediate(() => this.#native.known());
          } else if (!this.#hear(event)) tell(way, event, this.#options, observer);
        },
        signal: this.#options.signal,
        abort: (way, id) => {
          way.abort(id);
          observer?.kill('abort');
        },
      });
      const result = observer ? observer.follow(ran) : ran;
      this.#result = result.then(async (ended) => {
        this.#ended = true;
        if (!begun) {
          resolve({ pid: ended.pid });
          // Who has waited for the start listens only now.
          await new Promise(setImmediate);
        }
        this.#listeners.end({ exitCode: ended.exitCode, signal: ended.signal });
        return ended;
      });
      this.#result.catch(reject);
    });
  }

  #hear({ data }: NativeEvent): boolean {
    if (data === undefined) return false;
    void this.#listeners.data(data).then(() => this.#native.heard());
    return true;
  }

  /**
   * Types this, after what was typed before; `'\r'` is Enter, `'\x03'` Ctrl-C. Resolves when the terminal has taken all of it, however long: a program
   * that reads whole lines gets one over 4,000 bytes (1,000 on macOS) in parts, where the system would cut it. Rejects with
   * `ERR_BASH_INVALID_ARG` before the start and for what is neither text nor bytes, with `ERR_BASH_CLOSED` when the program has ended.
   */
  async write(data: string | Uint8Array): Promise<void> {
    if (typeof data !== 'string' && !(data instanceof Uint8Array))
      throw invalid('data', data, 'a string or a Uint8Array');
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    await this.#started;
    const waits = this.#native.write(bytes);
    if (waits === 0) return;
    await settled<boolean>({ ask: () => waits, answer: ({ closed }) => closed });
  }

  /** Gives the terminal another size, as in the constructor; the program is told (SIGWINCH). Throws `ERR_BASH_INVALID_ARG`. */
  resize(cols: number, rows: number): void {
    this.#native.resize(...sizeOf(cols, rows));
  }

  /** What a person would see now. After the end what was seen last, and before the start nothing. */
  screen(): TerminalScreen {
    return this.#native.screen();
  }

  /** What the program has asked of those who type for it: some keys have two forms. */
  modes(): TerminalModes {
    return this.#native.modes();
  }

  /**
   * `'data'`: all that the program writes, with its escape sequences, in whole characters and at most 64 KiB a call; the program is held back while a listener
   * works, until a promise that it returns has settled. Who listens may draw the terminal, and answer the questions of the program (DSR, DA); what is not answered within 250 ms is answered
   * here, as it is at once where nobody listens. `'exit'`: once, after all data. A listener that throws is told of by a process warning.
   */
  on(event: 'data', listener: DataListener): void;
  on(event: 'exit', listener: EndListener): void;
  on(event: 'data' | 'exit', listener: DataListener | EndListener): void {
    this.#listeners.add(event, listener);
  }

  /** Takes a listener away. */
  off(event: 'data' | 'exit', listener: (...args: never[]) => void): void {
    this.#listeners.remove(event, listener as DataListener | EndListener);
  }

  /**
   * Waits for the program to end, or for what comes first: `pattern` in the text since the start or the last match (without escape sequences, lines ended by `\n`, the last
   * 1 MiB of it), no output for `idleMs` (from this call on), `timeoutMs`. The exit code is as in `BashResult`, `null` while the program runs.
   * Rejects with `ERR_BASH_INVALID_ARG` before the start, and for a pattern that the engine cannot do.
   */
  async wait(options: PtyWaitOptions = {}): Promise<TerminalWaited> {
    checkWait(options);
    const { timeoutMs, idleMs, pattern } = options;
    const { source, flags } = patternOf(pattern);
    await this.#started;
    const waited = await settled<TerminalWaited>({
      ask: () => this.#native.wait(timeoutMs, idleMs, source, flags),
      answer: ({ waited }) => waited,
    });
    // Whoever knows of the end finds the result there, and those told who listen.
    if (waited.reason === 'exit') await this.#result;
    return waited;
  }

  /**
   * Without `signal`: ends the program and all that it has started (SIGHUP, SIGTERM, `graceMs`, SIGKILL) and resolves when they have ended; the result
   * is that of an abort. With it (`'SIGINT'`): sends just that, to the processes that keys go to and to the shell's group. Does nothing before the
   * start and after the end. A name that is none is `ERR_BASH_INVALID_ARG`.
   */
  async kill(signal?: string): Promise<void> {
    const number = signal === undefined ? 0 : constants.signals[signal as keyof typeof constants.signals];
    if (number === undefined) throw invalid('signal', signal, 'the name of a signal (SIGINT, SIGTERM …)');
    try {
      await this.#started;
    } catch {
      return;
    }
    if (!this.#started || this.#ended) return;
    if (number !== 0) {
      this.#native.signal(number);
      this.#observer?.kill('kill', signal);
      return;
    }
    // Its end is waited for now, whoever let go of it before.
    this.ref();
    theBridge().abort(this.#command);
    this.#observer?.kill('kill');
    await this.#result;
  }

  /** What came of it, at its end: as of `bash()`, with all that was written in `stdout`, lines ended by `\n`. Rejects with `ERR_BASH_INVALID_ARG` before the start. */
  async result(): Promise<BashResult> {
    await this.#started;
    if (!this.#result) throw notStarted();
    return this.#result;
  }

  /** Lets Node exit while the program runs, which ends it (SIGHUP); a pending `wait` or `write` still holds it. Without a program it does nothing. */
  unref(): void {
    hold(this.#command, false);
  }

  /** Undoes `unref()`: Node stays alive for the program, as it does by default. */
  ref(): void {
    hold(this.#command, true);
  }

  /** The same as `kill()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

type BashOptionsOfTerminal = Omit<PtyOptions, 'cols' | 'rows' | 'stdin' | 'registry' | 'onTimeout'>;

function used(): BashError {
  return new BashError(
    'ERR_BASH_INVALID_ARG',
    'this terminal has run its command already, or still does; make another one',
  );
}

function notStarted(): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', 'nothing was started in this terminal yet');
}
