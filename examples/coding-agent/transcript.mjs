import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {import('agent-bash/ai').BashToolOutput} BashToolOutput
 * @typedef {import('agent-bash').BackgroundCheck} BackgroundCheck
 * @typedef {import('agent-bash').BashResult} BashResult
 * @typedef {import('agent-bash').Truncation} Truncation
 * @typedef {import('agent-bash').View} View
 * @typedef {(text: string) => string} Paint
 * @typedef {import('agent-bash/ai').BashToolUndone} BashToolUndone
 * @typedef {'command' | 'check_pid' | 'kill_pid' | 'wait_pid' | 'port' | 'pattern' | 'undo_run' | 'recall' | 'mode' | 'cwd' | 'head' | 'tail' | 'timeout_ms'} Field
 */

/** Number of lines of a stream that people see. The model sees the whole result of its tool. */
const SHOWN_LINES = 24;
/** Shortest time between two progress lines in a pipe. */
const PIPE_PROGRESS_MS = 400;

/**
 * Returns whether to use colours: on a terminal unless NO_COLOR is set, and anywhere with FORCE_COLOR.
 * @param {{ isTTY?: boolean }} out
 * @param {Record<string, string | undefined>} env
 */
export function wantsColour(out, env) {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return out.isTTY === true && env.TERM !== 'dumb';
}

/** Prints the words and actions of an agent live. */
export class Transcript {
  #out;
  #live;
  /** @type {Record<'bold' | 'dim' | 'red' | 'green' | 'cyan', Paint>} */
  #paint;
  #atLineStart = true;
  /** Whether the last line is a progress line, which the next output replaces. */
  #progressShown = false;
  #lastProgress = { text: '', at: -Infinity };
  /** Commands of pending calls, by id. @type {Map<string, string>} */
  #open = new Map();
  /** The call whose command was printed last. @type {string | null} */
  #current = null;

  /**
   * @param {NodeJS.WritableStream & { isTTY?: boolean, columns?: number }} out
   * @param {{ colour: boolean }} options
   */
  constructor(out, { colour }) {
    this.#out = out;
    this.#live = out.isTTY === true;
    /** @type {(code: number) => Paint} */
    const paint = (code) => (text) => (colour && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text);
    this.#paint = { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), cyan: paint(36) };
  }

  /** Prints a fact about the run. @param {string} name @param {string} text */
  fact(name, text) {
    this.#line(`${this.#paint.dim(name.padEnd(8))} ${printable(text)}`);
  }

  /** Prints how the run ended. @param {boolean} good @param {string} text */
  verdict(good, text) {
    this.#gap();
    this.#line((good ? this.#paint.green : this.#paint.red)(`${good ? '✓' : '✗'} ${printable(text)}`));
  }

  /** Prints a piece of the model's text. @param {string} text */
  say(text) {
    this.#clearProgress();
    const shown = printable(text);
    if (shown === '') return;
    this.#out.write(shown);
    this.#atLineStart = shown.endsWith('\n');
    this.#current = null;
  }

  /** Starts a new paragraph. */
  gap() {
    this.#gap();
  }

  /**
   * Prints a new command.
   * @param {string} id
   * @param {Partial<Record<Field, unknown>>} input
   */
  begin(id, input) {
    const field =
      /** @type {const} */ (['check_pid', 'kill_pid', 'wait_pid', 'undo_run', 'recall']).find((name) => input[name]) ??
      'kill_pid';
    const command = input.command ?? `${field} ${input[field] ?? ''}`;
    const asked = ['mode', 'cwd', 'head', 'tail', 'port', 'pattern', 'timeout_ms'].flatMap((key) => {
      const value = Object(input)[key];
      return value === undefined || value === null ? [] : [`${key} ${value}`];
    });
    const head = printable(String(command)).replaceAll('\n', '\n  ');
    this.#open.set(
      id,
      `${this.#paint.bold(head)}${asked.length > 0 ? this.#paint.dim(printable(`  (${asked.join(', ')})`)) : ''}`,
    );
    this.#lastProgress = { text: '', at: -Infinity };
    this.#header(id);
  }

  /** Prints the progress of a running command. @param {string} id @param {BashToolOutput} snapshot */
  progress(id, snapshot) {
    if (!('status' in snapshot) || snapshot.status !== 'running') return;
    const last = `${snapshot.stdout}\n${snapshot.stderr}`.split('\n').findLast((line) => line.trim() !== '') ?? '';
    const now = performance.now();
    if (!this.#live && (last === this.#lastProgress.text || now - this.#lastProgress.at < PIPE_PROGRESS_MS)) return;
    this.#lastProgress = { text: last, at: now };
    if (this.#current !== id) this.#header(id);
    this.#clearProgress();
    const text = `  ⋯ ${seconds(snapshot.durationMs)}  ${printable(last).replaceAll('\t', ' ')}`;
    if (!this.#live) return this.#line(this.#paint.dim(text));
    const columns = (this.#out.columns || 80) - 1;
    this.#out.write(this.#paint.dim([...text].slice(0, columns).join('')));
    this.#progressShown = true;
  }

  /** Prints the result of a command, or that it never ran. @param {string} id @param {BashToolOutput} output */
  end(id, output) {
    if (!this.#open.has(id)) return;
    if ('status' in output && output.status === 'running') return;
    if (this.#current !== id) this.#header(id);
    this.#open.delete(id);
    this.#clearProgress();
    if ('error' in output) return this.#line(this.#paint.red(`  ✗ nothing ran: ${printable(output.error)}`));
    if ('task' in output) return this.#check(output);
    if (output.status === 'undone') return this.#undone(output);
    if (output.status === 'recalled' || output.status === 'drafted') return this.#stream(output.text, (line) => line);
    if (output.status === 'committed') return this.#stream(output.applied.join('\n'), (line) => line);
    if (output.background) {
      this.#stream(output.stdout, (line) => line);
      this.#stream(output.stderr, this.#paint.red);
      const { pid, logPath } = output.background;
      return this.#line(this.#paint.green(printable(`  ✓ in the background · pid ${pid} · output in ${logPath}`)));
    }
    this.#stream(output.stdout, (line) => line, output.view);
    this.#stream(output.stderr, this.#paint.red, output.view);
    if (output.reused) this.#line(this.#paint.dim(printable(`  not run again: ${again(output.reused)}`)));
    for (const { command, exitCode, signal } of output.evidence?.masked ?? [])
      this.#line(this.#paint.red(printable(`  hidden: ${signal ?? `exit ${exitCode}`} of ${command}`)));
    const changes = changed(output);
    if (changes !== '') this.#line(this.#paint.dim(printable(`  changed: ${changes}`)));
    for (const { kind, target, program } of output.confinement?.denied ?? [])
      this.#line(this.#paint.red(printable(`  denied: ${kind} ${target} (${program})`)));
    for (const note of output.notes) this.#line(this.#paint.dim(`  note: ${printable(note)}`));
    const good = output.exitCode === 0;
    const ended = `  ${good ? '✓' : '✗'} ${[outcome(output), seconds(output.durationMs), ...cuts(output), ...reduced(output)].join(' · ')}`;
    this.#line((good ? this.#paint.green : this.#paint.red)(printable(ended)));
  }

  /** Prints an undo. @param {BashToolUndone} undone */
  #undone({ restored, removed, conflicts }) {
    for (const { path, why } of conflicts) this.#line(this.#paint.red(printable(`  stays: ${path}: ${why}`)));
    const ended = `  ${conflicts.length === 0 ? '✓' : '✗'} ${restored.length} restored, ${removed.length} removed`;
    this.#line((conflicts.length === 0 ? this.#paint.green : this.#paint.red)(ended));
  }

  /** Prints a checked or killed task. @param {BackgroundCheck} check */
  #check({ task, output }) {
    this.#stream(output, (line) => line);
    const { pid, state, exitCode, signal } = task;
    const how = { running: 'still running', exited: `exit ${exitCode}`, killed: `killed by ${signal}`, lost: 'lost' };
    this.#line(this.#paint.green(`  ✓ pid ${pid} · ${how[state]}`));
  }

  /** Prints a question for a person. @param {string} why */
  question(why) {
    this.#gap();
    this.#line(this.#paint.bold('The agent asks to run:'));
    for (const line of why.split('\n')) this.#line(printable(line));
    this.#current = null;
  }

  /** Prints a problem of the run. @param {string} text */
  problem(text) {
    this.#gap();
    this.#line(this.#paint.red(printable(text)));
  }

  /** @param {string} id */
  #header(id) {
    this.#gap();
    this.#line(`${this.#paint.cyan('$')} ${this.#open.get(id) ?? ''}`);
    this.#current = id;
  }

  /** @param {string} text @param {Paint} paint @param {View | null} [view] The text that the model reads instead. */
  #stream(text, paint, view) {
    if (text === '') return;
    const lines = printable(text.replace(/\n$/, '')).split('\n');
    const hidden = Math.max(0, lines.length - SHOWN_LINES);
    const reader = view && view.elided.length > 0 ? 'the model has those that matter' : 'the model has them';
    if (hidden > 0) this.#line(this.#paint.dim(`  │ … ${hidden} lines above are not shown here; ${reader}`));
    for (const line of lines.slice(hidden)) this.#line(`${this.#paint.dim('  │ ')}${paint(line)}`);
  }

  #clearProgress() {
    if (this.#progressShown) this.#out.write('\r\u001b[2K');
    this.#progressShown = false;
  }

  #gap() {
    this.#clearProgress();
    if (!this.#atLineStart) this.#out.write('\n');
    this.#out.write('\n');
    this.#atLineStart = true;
  }

  /** @param {string} text */
  #line(text) {
    this.#clearProgress();
    if (!this.#atLineStart) this.#out.write('\n');
    this.#out.write(`${text}\n`);
    this.#atLineStart = true;
  }
}

/** @param {BashResult} result */
function outcome({ status, exitCode, signal, timeoutMs }) {
  if (status === 'timed-out') return `timed out after ${seconds(timeoutMs ?? 0)}, exit ${exitCode}`;
  if (status === 'aborted') return `interrupted, exit ${exitCode}`;
  if (status === 'signaled') return `killed by ${signal}, exit ${exitCode}`;
  return `exit ${exitCode}`;
}

/** Says since which run nothing has changed. @param {NonNullable<BashResult['reused']>} reused */
function again({ runId, filtered }) {
  return `nothing changed since run ${runId}${filtered ? ', whose output went through this filter' : ''}`;
}

/**
 * Returns what a command has changed, in numbers.
 * @param {BashResult} result
 */
function changed({ receipt }) {
  if (!receipt) return '';
  const { counts, ports } = receipt;
  const kinds = /** @type {const} */ (['created', 'modified', 'deleted', 'renamed']).filter((kind) => counts[kind] > 0);
  return [
    ...kinds.map((kind) => `${counts[kind]} ${kind}`),
    ...ports.opened.map(({ port }) => `port ${port} open`),
  ].join(', ');
}

/** @param {BashResult} result */
function cuts({ truncation }) {
  return /** @type {const} */ (['stdout', 'stderr']).flatMap((name) => {
    const cut = truncation[name];
    return cut ? [`${name} cut: ${shown(cut)}${cut.path ? `, whole in ${cut.path}` : ''}`] : [];
  });
}

/**
 * Returns how much of the output the model reads, if it is less than all.
 * @param {BashResult} result
 */
function reduced({ view }) {
  return view ? [`${view.tokens.after} of ${view.tokens.before} tokens for the model`] : [];
}

/** @param {Truncation} cut */
function shown(cut) {
  if (cut.keep === 'ends') return `both ends of ${cut.totalBytes} bytes shown`;
  if (cut.by === 'lines' || cut.outputLines < cut.totalLines)
    return `${cut.keep === 'tail' ? 'last' : 'first'} ${cut.outputLines} of ${cut.totalLines} lines shown`;
  return `${cut.keep === 'tail' ? 'last' : 'first'} ${cut.outputBytes} of ${cut.totalBytes} bytes shown`;
}

/** @param {number} ms */
function seconds(ms) {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 9_950 ? 1 : 0)} s`;
}

/** Removes control characters, because a model may write anything. @param {string} text */
function printable(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this removes control characters
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
