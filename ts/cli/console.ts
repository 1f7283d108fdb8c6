import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import type { BashError, Finding, HighlightToken } from 'agent-bash';
import { TOKEN_COLOURS } from '../core/token-colours.ts';

/** Exit codes of the program. `run` passes on the exit code of its command, and `check` reports the verdict. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** `check`: a person must be asked. */
  asks: 1,
  /** `check`: the command is refused. */
  denied: 2,
  /**
   * `run` could not run the command, or `check` could not judge it. The same as for `env` and `timeout`, to tell it
   * from the command's own codes.
   */
  notRun: 125,
  /** `run`: it is not known how the command ended, since its target was lost. */
  lost: 255,
  /** The reader of the output is gone. The code that a shell reports for SIGPIPE. */
  brokenPipe: 141,
} as const;

/** Why the program refuses something, for programs. */
interface Why {
  findings?: Finding[] | undefined;
  reason?: string | undefined;
}

/** A failure with a sentence for people and a code for programs. */
export class Failure extends Error {
  /** The code of a `BashError`, or of the system (`'EACCES'`). */
  readonly code: string;
  readonly exitCode: number;
  /** The reasons why a command was refused. */
  readonly findings: Finding[] | undefined;
  /** Why a target cannot be used. */
  readonly reason: string | undefined;

  constructor(code: string, message: string, exitCode: number = EXIT.failed, why: Why = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.findings = why.findings;
    this.reason = why.reason;
  }

  /** Wraps any error as a failure, with this exit code if one is given. */
  static of(error: unknown, exitCode?: number): Failure {
    const { code, findings, reason } = Object(error) as Partial<BashError>;
    const own = error instanceof Failure ? error.exitCode : undefined;
    const message = error instanceof Error ? error.message : String(error);
    return new Failure(typeof code === 'string' ? code : 'ERR_UNKNOWN', message, exitCode ?? own, { findings, reason });
  }
}

/** Aborts, with the error, when the output can no longer be written, usually because its reader is gone (EPIPE). */
export const readerGone = new AbortController();

/** Handles errors of the output streams, which would otherwise be uncaught. */
export function watchReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', (error) => readerGone.abort(error));
}

/** Writes text. Resolves when the stream accepts more or has no reader. */
export async function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  if (text.length === 0 || readerGone.signal.aborted || stream.write(text)) return;
  await once(stream, 'drain', { signal: readerGone.signal }).catch(() => {});
}

/** Prints a line of text. */
export function print(line: string): Promise<void> {
  return write(process.stdout, `${line}\n`);
}

/** Prints a value as one line of JSON. */
export function printJson(value: unknown): Promise<void> {
  return print(JSON.stringify(value));
}

/** Prints a remark on standard error. */
export function remark(text: string): Promise<void> {
  return write(process.stderr, `agent-bash: ${printable(text)}\n`);
}

/**
 * Returns whether a program reads the output. Scans the arguments itself, because invalid arguments are reported as
 * JSON too.
 */
export function wantsJson(): boolean {
  const [, , ...words] = process.argv;
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).includes('--json');
}

/** Reports a failure: to people on standard error, to programs as a line of the output. */
export async function complain({ code, message, findings, reason }: Failure): Promise<void> {
  if (wantsJson()) return printJson({ error: message, code, findings, reason });
  await remark(message);
  for (const { suggestion } of findings ?? []) {
    if (suggestion !== '') await remark(`instead: ${suggestion}`);
  }
}

const COLOURS = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2 } as const;
export type Colour = keyof typeof COLOURS;

/** Colours text on a terminal, unless NO_COLOR is set. FORCE_COLOR applies to any output. */
export function paint(colour: Colour, text: string): string {
  return wantsColour() ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

/** Colours a part of a command as `paint` does. */
export function paintToken(token: HighlightToken['class'] | undefined, text: string): string {
  return token && wantsColour() ? `\u001b[${codeOf(TOKEN_COLOURS[token])}m${text}\u001b[0m` : text;
}

const codeOf = (colour: number) => (colour < 8 ? 30 + colour : 82 + colour);

/** Returns whether text for people has colours. */
export function wantsColour(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true && TERM !== 'dumb';
}

/** Returns one line without control characters: a command may contain anything. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
