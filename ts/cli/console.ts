import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import type { BashError, Finding } from 'agent-bash';

/** Exit codes of the program; `run` passes on that of its command, `check` says by it what the command is. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** `check`: a person is to be asked. */
  asks: 1,
  /** `check`: it is refused. */
  denied: 2,
  /** `run` could not run anything, `check` not judge it. As of `env` and `timeout`, so that it is not taken for one of the command. */
  notRun: 125,
  /** Who read the output has gone: as a shell says of a program that SIGPIPE ended. */
  brokenPipe: 141,
} as const;

/** What goes wrong in a way that people are told in a sentence, and programs by a code. */
export class Failure extends Error {
  /** That of a `BashError`, or of the system (`'EACCES'`). */
  readonly code: string;
  readonly exitCode: number;
  /** Why a command was refused. */
  readonly findings: Finding[] | undefined;

  constructor(code: string, message: string, exitCode: number = EXIT.failed, findings?: Finding[]) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.findings = findings;
  }

  /** Any error as a failure, with this exit code if one is given. */
  static of(error: unknown, exitCode?: number): Failure {
    const { code, findings } = Object(error) as Partial<BashError>;
    const own = error instanceof Failure ? error.exitCode : undefined;
    const message = error instanceof Error ? error.message : String(error);
    return new Failure(typeof code === 'string' ? code : 'ERR_UNKNOWN', message, exitCode ?? own, findings);
  }
}

/** Aborted, with the error, when the output cannot be written any more: mostly nobody reads it (EPIPE). */
export const readerGone = new AbortController();

/** Hears of readers that go away, which would otherwise be an uncaught error. */
export function watchReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', (error) => readerGone.abort(error));
}

/** Writes text and resolves when there is room for more, or nobody to read it. */
export async function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  if (text.length === 0 || readerGone.signal.aborted || stream.write(text)) return;
  await once(stream, 'drain', { signal: readerGone.signal }).catch(() => {});
}

/** Prints a line of text for people, or a value for programs. */
export function print(line: string): Promise<void> {
  return write(process.stdout, `${line}\n`);
}

/** A value on one line. */
export function printJson(value: unknown): Promise<void> {
  return print(JSON.stringify(value));
}

/** A remark that is no part of the output. */
export function remark(text: string): Promise<void> {
  return write(process.stderr, `agent-bash: ${printable(text)}\n`);
}

/** Whether a program reads the output. Looked for by hand: arguments that are wrong are to be told as JSON, too. */
export function wantsJson(): boolean {
  const [, , ...words] = process.argv;
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).includes('--json');
}

/** Tells people what went wrong, on standard error; or a program, as a line of its output. */
export function complain({ code, message, findings }: Failure): Promise<void> {
  return wantsJson() ? printJson({ error: message, code, findings }) : remark(message);
}

const COLOURS = { red: 31, green: 32, yellow: 33, dim: 2 } as const;
export type Colour = keyof typeof COLOURS;

/** Coloured on a terminal, unless NO_COLOR says no; FORCE_COLOR says yes anywhere. */
export function paint(colour: Colour, text: string): string {
  return wantsColour() ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

function wantsColour(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true && TERM !== 'dumb';
}

/** One line that moves no cursor and rings no bell: a command may hold anything. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
