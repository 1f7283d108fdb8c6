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

/** Characters of a text that has no bound of its own. */
const TEXT = 10_000;
const LIST = 1_000;

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
  if ('re' in message) return reply(number(message.re, -1), message);
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

function number(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, TEXT) : null;
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
    startedAt: number(startedAt),
    version: text(version),
  };
}

function reply(re: number, { error }: Fields): HostMessage {
  return error === undefined ? { re, ok: true } : { re, error: failure(error) };
}

function failure(value: unknown): { code: string; message: string } {
  const { code, message } = fields(value);
  return { code: text(code, 100), message: text(message) };
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
    key: text(given.key),
    runId: text(given.runId),
    kind: oneOf(given.kind, KINDS, 'command'),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    startedAt: number(given.startedAt),
    state: waiting ? 'waiting' : 'running',
    waiting: waiting && {
      why: oneOf(waiting.why, ['prompt', 'stopped', 'input'], 'input'),
      text: text(waiting.text, 1_000),
    },
    lastLine: text(given.lastLine, 1_000),
    cpuMs: numberOrNull(given.cpuMs),
    memory: numberOrNull(given.memory),
    pid: numberOrNull(given.pid),
    taskId: textOrNull(given.taskId),
    ports: list(given.ports, ({ port, address }) => ({ port: number(port), address: text(address, 100) }), 100),
    undo: given.undo === true,
    stdin: given.stdin === true,
  };
}

function ended(given: Fields): Ended {
  return {
    key: text(given.key),
    state: oneOf(given.state, ENDS, 'lost'),
    exitCode: numberOrNull(given.exitCode),
    signal: textOrNull(given.signal),
    endedAt: number(given.endedAt),
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
    key: text(given.key),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    verdict: text(given.verdict, 100),
    rules: texts(given.rules, 100),
    reasons: texts(given.reasons, 100),
    undo: given.undo === null ? null : oneOf<UndoCover>(given.undo, ['full', 'part', 'none'], 'none'),
    askedAt: number(given.askedAt),
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
    run: text(given.run),
    at: number(given.at),
    text: text(given.text, Number.POSITIVE_INFINITY),
    gap: Math.max(0, number(given.gap)),
    end: given.end === true,
  };
}

/** Rows and columns of a screen at most. */
const CELLS = 1_000;

function screen(given: Fields): Screen {
  const cursor = Array.isArray(given.cursor) ? given.cursor.map((at) => number(at, -1)) : [];
  const [row = -1, column = -1] = cursor;
  return {
    run: text(given.run),
    rows: Math.min(CELLS, number(given.rows)),
    columns: Math.min(CELLS, number(given.columns)),
    lines: texts(given.lines, CELLS),
    cursor: row >= 0 && column >= 0 ? [row, column] : null,
    title: text(given.title, 1_000),
  };
}
