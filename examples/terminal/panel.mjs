import xterm from '@xterm/headless';
import { draw } from './draw.mjs';

/** Size of the frame: one row above and below, one column on each side. */
const FRAME = { cols: 2, rows: 2 };
/** The key that terminates a command if it arrives alone. Arrow keys begin with it too. */
const ESCAPE = '\x1b';

/**
 * A part of the host's screen that shows a terminal. It draws the output of a program and passes on typed keys.
 *
 * The emulator is @xterm/headless. On a page or in an Electron window it would be xterm.js, connected in the same way.
 */
export class Panel {
  /** @type {NodeJS.ReadStream} */
  #input;
  /** @type {NodeJS.WriteStream} */
  #output;
  /** @type {{ terminal: xterm.Terminal, title: string } | null} */
  #shown = null;
  /** Removes the listeners of the panel at the end. */
  #listeners = new AbortController();

  /**
   * @param {NodeJS.ReadStream} input
   * @param {NodeJS.WriteStream} output
   */
  constructor(input, output) {
    this.#input = input;
    this.#output = output;
  }

  /** Size of the terminal inside the host's own. */
  get size() {
    // A terminal without a set size reports 0.
    const { columns, rows } = this.#output;
    return { cols: Math.max(1, (columns || 80) - FRAME.cols), rows: Math.max(1, (rows || 24) - FRAME.rows) };
  }

  /** Takes over the screen. */
  open() {
    this.#output.write('\x1b[?1049h\x1b[2J');
    if (this.#input.isTTY) this.#input.setRawMode(true);
    this.#input.setEncoding('utf8').resume();
  }

  /** Restores the screen. */
  close() {
    this.#listeners.abort();
    this.#shown?.terminal.dispose();
    this.#shown = null;
    this.#input.pause();
    if (this.#input.isTTY) this.#input.setRawMode(false);
    this.#output.write('\x1b[?1049l\x1b[?25h');
  }

  /**
   * @param {import('agent-bash').PtySession} pty
   * @param {string} command
   */
  show(pty, command) {
    const terminal = new xterm.Terminal({ ...this.size, scrollback: 0, allowProposedApi: true });
    this.#shown = { terminal, title: command };

    // Output of the program. The promise slows the program down while the emulator is behind.
    pty.on('data', (text) => new Promise((drawn) => terminal.write(text, () => drawn(undefined))));
    terminal.onWriteParsed(() => this.#draw());
    terminal.onTitleChange((title) => {
      this.#shown = { terminal, title };
    });

    // Answers of the emulator to queries of the program, and typed keys. A program that has exited reads no more.
    const type = (/** @type {string} */ text) => void pty.write(text).catch(() => {});
    terminal.onData(type);
    this.#listen(this.#input, 'data', (key) => {
      if (key === ESCAPE) void pty.kill();
      else type(key);
    });

    this.#listen(this.#output, 'resize', () => {
      const { cols, rows } = this.size;
      terminal.resize(cols, rows);
      pty.resize(cols, rows);
      this.#output.write('\x1b[2J');
      this.#draw();
    });
    this.#draw();
  }

  #draw() {
    if (this.#shown) this.#output.write(draw(this.#shown.terminal, `${this.#shown.title} (Escape ends it)`));
  }

  /**
   * @param {NodeJS.EventEmitter} emitter
   * @param {string} event
   * @param {(text: string) => void} listener
   */
  #listen(emitter, event, listener) {
    emitter.on(event, listener);
    this.#listeners.signal.addEventListener('abort', () => emitter.off(event, listener));
  }
}
