import xterm from '@xterm/headless';
import { draw } from './draw.mjs';

/** What frames a terminal: a line above and below, a column at either side. */
const FRAME = { cols: 2, rows: 2 };
/** The key that ends a command, by itself: the arrows begin with it, too. */
const ESCAPE = '\x1b';

/**
 * A part of the host's screen that shows a terminal: it draws what a program writes, and types what the person types.
 *
 * The emulator is @xterm/headless; in a page or an Electron window it would be xterm.js itself, wired in the same way.
 */
export class Panel {
  /** @type {NodeJS.ReadStream} */
  #input;
  /** @type {NodeJS.WriteStream} */
  #output;
  /** @type {{ terminal: xterm.Terminal, title: string } | null} */
  #shown = null;
  /** What the panel listens to, to be let go of at the end. */
  #letGo = new AbortController();

  /**
   * @param {NodeJS.ReadStream} input
   * @param {NodeJS.WriteStream} output
   */
  constructor(input, output) {
    this.#input = input;
    this.#output = output;
  }

  /** What the terminal may have of the host's own. */
  get size() {
    // A terminal whose size nobody has set says 0.
    const { columns, rows } = this.#output;
    return { cols: Math.max(1, (columns || 80) - FRAME.cols), rows: Math.max(1, (rows || 24) - FRAME.rows) };
  }

  /** Takes the screen over. */
  open() {
    this.#output.write('\x1b[?1049h\x1b[2J');
    if (this.#input.isTTY) this.#input.setRawMode(true);
    this.#input.setEncoding('utf8').resume();
  }

  /** Gives the screen back. */
  close() {
    this.#letGo.abort();
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

    // What the program writes. The promise holds it back while the emulator is behind.
    pty.on('data', (text) => new Promise((drawn) => terminal.write(text, () => drawn(undefined))));
    terminal.onWriteParsed(() => this.#draw());
    terminal.onTitleChange((title) => {
      this.#shown = { terminal, title };
    });

    // What the emulator answers to the program's questions, and what the person types. A program that has ended reads no more.
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
    this.#letGo.signal.addEventListener('abort', () => emitter.off(event, listener));
  }
}
