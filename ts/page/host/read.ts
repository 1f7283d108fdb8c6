import type {
  Actor,
  Ask,
  Change,
  ChangeCounts,
  Ended,
  EndState,
  HostHello,
  HostMessage,
  Output,
  Run,
  RunKind,
  Screen,
  UndoCover,
} from './protocol.ts';

type Fields = Record<string, unknown>;

/** Characters of a text that has no bound of its own, and of a name. */
const TEXT = 10_000;
const NAME = 100;
const LIST = 1_000;
/** The last moment that a date can have. */
const LAST_MS = 8.64e15;

/**
 * Reads a line of a host. A field of another type has its empty value, so that a page never shows what it did not
 * expect. Returns `null` for a line that is no message.
 */
export function readMessage(line: string): HostMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const message = fields(value);
  if ('hello' in message) return { hello: hello(fields(message.hello)) };
  if ('re' in message) return reply(number(message.re), message);
  if ('error' in message) return { error: failure(message.error) };
  if ('state' in message) {
    const { runs, asks } = fields(message.state);
    return { state: { runs: list(runs, run), asks: list(asks, ask) } };
  }
  if ('change' in message) return { change: change(fields(message.change)) };
  if ('output' in message) return { output: output(fields(message.output)) };
  if ('screen' in message) return { screen: screen(fields(message.screen)) };
  return null;
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function text(value: unknown, most = TEXT): string {
  return typeof value === 'string' ? value.slice(0, most) : '';
}

/** A whole number from 0 to `most`. */
function number(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
  return numberOrNull(value, most) ?? 0;
}

function numberOrNull(value: unknown, most = Number.MAX_SAFE_INTEGER): number | null {
  return Number.isFinite(value) ? Math.trunc(Math.min(most, Math.max(0, value as number))) : null;
}

function textOrNull(value: unknown, most: number): string | null {
  return typeof value === 'string' ? value.slice(0, most) : null;
}

function list<T>(value: unknown, read: (item: Fields) => T, most = LIST): T[] {
  return Array.isArray(value) ? value.slice(0, most).map((item) => read(fields(item))) : [];
}

function texts(value: unknown, most: number): string[] {
  return Array.isArray(value) ? value.slice(0, most).map((item) => text(item)) : [];
}

function oneOf<T extends string>(value: unknown, words: readonly T[], otherwise: T): T {
  return words.includes(value as T) ? (value as T) : otherwise;
}

function hello({ protocol, pid, program, cwd, startedAt, version }: Fields): HostHello {
  return {
    protocol: number(protocol),
    pid: number(pid),
    program: text(program),
    cwd: text(cwd),
    startedAt: number(startedAt, LAST_MS),
    version: text(version),
  };
}

function reply(re: number, { error }: Fields): HostMessage {
  return error === undefined ? { re, ok: true } : { re, error: failure(error) };
}

function failure(value: unknown): { code: string; message: string } {
  const { code, message } = fields(value);
  return { code: text(code, NAME), message: text(message) };
}

const KINDS: RunKind[] = ['command', 'task', 'session', 'terminal'];
const ENDS: EndState[] = ['exited', 'signaled', 'timed-out', 'aborted', 'backgrounded', 'refused', 'lost'];

function actor(value: unknown): Actor | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  const names = ['agent', 'session', 'toolCallId', 'user'] as const;
  return Object.fromEntries(
    names.filter((name) => typeof given[name] === 'string').map((name) => [name, text(given[name], 1_000)]),
  );
}

function run(given: Fields): Run {
  const waiting = given.state === 'waiting' ? fields(given.waiting) : null;
  return {
    key: text(given.key, NAME),
    runId: text(given.runId, NAME),
    kind: oneOf(given.kind, KINDS, 'command'),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    startedAt: number(given.startedAt, LAST_MS),
    state: waiting ? 'waiting' : 'running',
    waiting: waiting && {
      why: oneOf(waiting.why, ['prompt', 'stopped', 'input'], 'input'),
      text: text(waiting.text, 1_000),
    },
    lastLine: text(given.lastLine, 1_000),
    cpuMs: numberOrNull(given.cpuMs),
    memory: numberOrNull(given.memory),
    pid: numberOrNull(given.pid),
    taskId: textOrNull(given.taskId, NAME),
    ports: list(
      given.ports,
      ({ port, address }) => ({ port: number(port, 65_535), address: text(address, NAME) }),
      100,
    ),
    undo: given.undo === true,
    stdin: given.stdin === true,
  };
}

function ended(given: Fields): Ended {
  return {
    key: text(given.key, NAME),
    state: oneOf(given.state, ENDS, 'lost'),
    exitCode: numberOrNull(given.exitCode),
    signal: textOrNull(given.signal, NAME),
    endedAt: number(given.endedAt, LAST_MS),
    receipt: given.receipt ? counts(fields(given.receipt)) : null,
  };
}

function counts({ created, modified, deleted, renamed }: Fields): ChangeCounts {
  return {
    created: number(created),
    modified: number(modified),
    deleted: number(deleted),
    renamed: number(renamed),
  };
}

function ask(given: Fields): Ask {
  return {
    key: text(given.key, NAME),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    verdict: text(given.verdict, NAME),
    rules: texts(given.rules, 100),
    reasons: texts(given.reasons, 100),
    undo: given.undo === null ? null : oneOf<UndoCover>(given.undo, ['full', 'part', 'none'], 'none'),
    askedAt: number(given.askedAt, LAST_MS),
  };
}

function change({ runs, ended: ends, asks, answered }: Fields): Change {
  return {
    runs: list(runs, run),
    ended: list(ends, ended),
    asks: list(asks, ask),
    answered: texts(answered, LIST),
  };
}

function output(given: Fields): Output {
  return {
    run: text(given.run, NAME),
    at: number(given.at),
    text: text(given.text, Number.POSITIVE_INFINITY),
    gap: number(given.gap),
    end: given.end === true,
  };
}

/** Rows and columns of a screen at most. */
const CELLS = 1_000;

function screen(given: Fields): Screen {
  const [row, column] = Array.isArray(given.cursor) ? given.cursor.map((at) => numberOrNull(at, CELLS)) : [];
  return {
    run: text(given.run, NAME),
    rows: number(given.rows, CELLS),
    columns: number(given.columns, CELLS),
    lines: texts(given.lines, CELLS),
    cursor: row != null && column != null ? [row, column] : null,
    title: text(given.title, 1_000),
    end: given.end === true,
  };
}
