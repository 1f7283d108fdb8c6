import type { NativeTerminal, TerminalModes, TerminalScreen, TerminalWaited } from '../../native.cjs';
import { onRunEvent } from '../bash.ts';
import { callSecrets } from '../confine/native.ts';
import { hold, settled, theBridge } from '../core/calls.ts';
import { invalid } from '../core/checks.ts';
import { loadNative } from '../core/native.ts';
import type { SignalName } from '../core/signals.ts';
import { endingWithDraft, runningIn } from '../draft/handle.ts';
import { BashError } from '../errors.ts';
import { poolOf } from '../fleet/handle.ts';
import { runOnPlace } from '../fleet/placed.ts';
import { Observer } from '../observe/observer.ts';
import { checkOptions, checkPlace } from '../options.ts';
import { patternOf } from '../registry/options.ts';
import { directoryOf, toNative } from '../request.ts';
import { type BashResult, resultOf } from '../result.ts';
import { thereOf } from '../target/handle.ts';
import type { Target } from '../target/types.ts';
import type { PlacedOptions } from '../types.ts';
import { type TerminalDataListener, type TerminalExitListener, TerminalListeners } from './listeners.ts';
import { checkWait, OF_TERMINALS, sizeOf, type TerminalOptions, type TerminalWaitOptions } from './options.ts';

/**
 * A command in a pseudo-terminal of its own, for editors, REPLs and menus. The command sees a controlling terminal with
 * TERM=xterm-256color and without the defaults for unattended commands. Safety, environment, limits and the end of all
 * its processes are as with `bash()`. One terminal runs one command.
 *
 * There is no time limit unless `timeoutMs` is given. A command does not move to the background: at its limit it is
 * ended, and `registry`, `onTimeout`, `idleTimeoutMs`, `merge` and `warm` have no effect.
 */
export class PtySession {
  readonly #native: NativeTerminal;
  readonly #options: BashOptionsOfTerminal;
  readonly #listeners: TerminalListeners;
  #started: Promise<{ pid: number }> | null = null;
  #result: Promise<BashResult> | null = null;
  #command = 0;
  #observer: Observer | undefined;
  #ended = false;

  /**
   * Starts nothing. The screen keeps at most 1,000 rows and columns. The options other than `cols` and `rows` are the
   * options of `bash()`. `stdin` (input is typed, see `write`), and `'background'` as `mode` or `onTimeout`, are
   * refused.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for invalid options.
   *
   * @example const terminal = new PtySession({ cols: 120, rows: 40 });
   */
  constructor(options: TerminalOptions = {}) {
    checkOptions('PtySession', '', options, OF_TERMINALS);
    const { cols = 80, rows = 24, ...others } = options;
    checkPlace({ ...others, registry: undefined });
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
    this.#listeners = new TerminalListeners((on) => {
      this.#native.setListening(on);
      // No listener is left to acknowledge the last data.
      if (!on) this.#native.dataTaken();
    });
  }

  /**
   * Starts the command and resolves with the pid of its shell once that runs; 0 if `signal` was aborted before, which
   * starts nothing. Events begin after that. Rejects as `bash()` does, and with `ERR_BASH_UNSUPPORTED` if the system
   * provides no pseudo-terminal or `AGENT_BASH_NO_PTY=1` is set. After a rejection it may be called again. A second
   * command is `ERR_BASH_INVALID_ARG`.
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
    checkOptions('PtySession', command, this.#options);
    if (process.env.AGENT_BASH_NO_PTY === '1') {
      throw new BashError('ERR_BASH_UNSUPPORTED', 'pseudo-terminals are turned off here (AGENT_BASH_NO_PTY=1)');
    }
    const pool = poolOf(this.#options.target);
    const { affinity, signal } = this.#options;
    if (!pool) return this.#startOn(command, this.#options as PlacedOptions);
    return new Promise((resolve, reject) => {
      const started = async (text: string, options: PlacedOptions) => {
        resolve(await this.#startOn(text, options));
        return this.#result as Promise<BashResult>;
      };
      const run = (target: Target) => started(command, { ...this.#options, target });
      const aborted = () => started(':', { signal, safety: 'off', ledger: false });
      runOnPlace(pool, this.#options, affinity, run, aborted).catch(reject);
    });
  }

  async #startOn(command: string, given: PlacedOptions): Promise<{ pid: number }> {
    const own = endingWithDraft(given);
    const calls = callSecrets(own);
    if (calls) await calls;
    const observer = Observer.of('terminal', command, own, () => directoryOf(own));
    this.#observer = observer;
    return new Promise((resolve, reject) => {
      let begun = false;
      const ran = settled({
        begin: () => {
          const options = observer?.withVariables(own) ?? own;
          const there = thereOf(options.target);
          const request = toNative(command, options, observer);
          this.#command = there ? this.#native.startThere(there.native, request) : this.#native.start(request);
          return this.#command;
        },
        kind: 'result',
        answer: (event) => resultOf(event, own),
        onEvent: (way, id, event) => {
          onRunEvent(way, id, event, own, observer);
          if (event.kind === 'started') {
            begun = true;
            resolve({ pid: event.pid });
            // Data without a listener is dropped, and the caller adds listeners once this promise has settled.
            setImmediate(() => this.#native.ready());
          } else if (event.kind === 'data') this.#onData(event.text);
        },
        signal: own.signal,
        abort: (way, id) => {
          way.abort(id);
          observer?.kill('abort');
        },
        target: thereOf(own.target)?.id,
      });
      const result = runningIn(own.draft, observer ? observer.follow(ran) : ran);
      this.#result = result.then(async (ended) => {
        this.#ended = true;
        if (!begun) {
          resolve({ pid: ended.pid });
          // A caller that has waited for the start adds its listeners only now.
          await new Promise(setImmediate);
        }
        this.#listeners.end({ exitCode: ended.exitCode, signal: ended.signal });
        return ended;
      });
      this.#result.catch(reject);
    });
  }

  #onData(text: string): void {
    void this.#listeners.data(text).then(() => this.#native.dataTaken());
  }

  /**
   * Types text or bytes, after all that was typed before: `'\r'` is Enter, `'\x03'` Ctrl-C. Resolves when the terminal
   * has taken all of it, however long. A program that reads whole lines gets a line over 4,000 bytes (1,000 on macOS)
   * in parts, where the system would cut it. Rejects with `ERR_BASH_INVALID_ARG` before the start and for a value that
   * is neither text nor bytes, and with `ERR_BASH_CLOSED` after the end of the program.
   */
  async write(data: string | Uint8Array): Promise<void> {
    if (typeof data !== 'string' && !(data instanceof Uint8Array))
      throw invalid('data', data, 'a string or a Uint8Array');
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    await this.#started;
    const waits = this.#native.write(bytes);
    if (waits === 0) return;
    await settled({ begin: () => waits, kind: 'done', answer: () => undefined });
  }

  /**
   * Changes the size of the terminal, as in the constructor; the program receives SIGWINCH. Throws
   * `ERR_BASH_INVALID_ARG`.
   */
  resize(cols: number, rows: number): void {
    this.#native.resize(...sizeOf(cols, rows));
  }

  /** Returns the screen as a person would see it now: the last one after the end, an empty one before the start. */
  screen(): TerminalScreen {
    return this.#native.screen();
  }

  /** Returns the modes that the program has set for typing: some keys have two forms. */
  modes(): TerminalModes {
    return this.#native.modes();
  }

  /**
   * `'data'`: all output of the program, with its escape sequences, in whole characters and at most 64 KiB per call.
   * The program is held back until the listener's promise has settled. A listener may draw the terminal and answer the
   * questions of the program (DSR, DA). An answer that is not there within 250 ms is given here, and at once without a
   * listener. `'exit'`: once, after all data.
   *
   * A listener that throws or rejects causes a warning of the process, and is still called. Throws
   * `ERR_BASH_INVALID_ARG` for another event or a listener that is not a function.
   *
   * @example terminal.on('data', (text) => process.stdout.write(text));
   */
  on(event: 'data', listener: TerminalDataListener): this;
  on(event: 'exit', listener: TerminalExitListener): this;
  on(event: 'data' | 'exit', listener: TerminalDataListener | TerminalExitListener): this {
    this.#listeners.add(event, listener);
    return this;
  }

  /** Removes a listener. Does nothing if the listener was never added. */
  off(event: 'data', listener: TerminalDataListener): this;
  off(event: 'exit', listener: TerminalExitListener): this;
  off(event: 'data' | 'exit', listener: TerminalDataListener | TerminalExitListener): this {
    this.#listeners.remove(event, listener);
    return this;
  }

  /**
   * Waits for the end of the program, or for the first of `pattern`, `idleMs` and `timeoutMs`. The pattern is searched
   * in the last 1 MiB of the text since the start or the last match, without escape sequences and with `\n` as line
   * end. The exit code is as in `BashResult`, `null` while the program runs. Rejects with `ERR_BASH_INVALID_ARG` before
   * the start, and for a pattern that the engine does not support.
   */
  async wait(options: TerminalWaitOptions = {}): Promise<TerminalWaited> {
    checkWait(options);
    const { timeoutMs, idleMs, pattern } = options;
    const { source, flags } = patternOf(pattern);
    await this.#started;
    const waited = await settled({
      begin: () => this.#native.wait(timeoutMs, idleMs, source, flags),
      kind: 'waited',
      answer: ({ waited }) => waited,
    });
    // At the end the result is there, and the listeners have received it.
    if (waited.reason === 'exit') await this.#result;
    return waited;
  }

  /**
   * Without `signal`: ends the program and everything it started (SIGHUP, SIGTERM, `graceMs`, SIGKILL), and resolves
   * when all have ended. The result is the result of an abort. With a `signal` (`'SIGINT'` or `'INT'`): only sends the
   * signal, to the foreground processes and to the shell's group. Does nothing before the start and after the end. An
   * unknown name is `ERR_BASH_INVALID_ARG`.
   */
  async kill(signal?: SignalName): Promise<void> {
    const sent = signal === undefined ? undefined : typeof signal === 'string' ? loadNative().signalOf(signal) : null;
    if (sent === null) throw invalid('signal', signal, 'the name of a signal (SIGINT, SIGTERM …)');
    try {
      await this.#started;
    } catch {
      return;
    }
    if (!this.#started || this.#ended) return;
    if (sent !== undefined) {
      this.#native.signal(sent.number);
      this.#observer?.kill('kill', sent.name);
      return;
    }
    // From here on this call waits for the end, even after `unref()`.
    this.ref();
    theBridge().abort(this.#command);
    this.#observer?.kill('kill');
    await this.#result;
  }

  /**
   * Resolves at the end with the result, as `bash()` does: all output is in `stdout`, with `\n` as line end. Rejects
   * with `ERR_BASH_INVALID_ARG` before the start.
   */
  async result(): Promise<BashResult> {
    await this.#started;
    if (!this.#result) throw notStarted();
    return this.#result;
  }

  /**
   * Lets Node exit while the program runs, which ends it (SIGHUP). A pending `wait` or `write` still keeps Node alive.
   * Does nothing without a program.
   */
  unref(): void {
    hold(this.#command, false);
  }

  /** Undoes `unref()`: the program keeps Node alive, as it does by default. */
  ref(): void {
    hold(this.#command, true);
  }

  /** Same as `kill()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

type BashOptionsOfTerminal = Omit<TerminalOptions, 'cols' | 'rows' | 'stdin' | 'registry' | 'onTimeout'>;

function used(): BashError {
  return new BashError(
    'ERR_BASH_INVALID_ARG',
    'this terminal has run its command already, or still does; make another one',
  );
}

function notStarted(): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', 'nothing was started in this terminal yet');
}
