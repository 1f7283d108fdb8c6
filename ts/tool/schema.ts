import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import { nearestTo } from '../core/option-names.ts';
import { AFTER_LAST_LINE_MS } from './call/line-limits.ts';
import type { BashContextSchema, BashInputIssue, BashInputSchema, BashToolContext, BashToolInput } from './types.ts';

/** A parsed value, or the reasons why it is invalid. */
export type Read<T> = { value: T } | { issues: BashInputIssue[] };

/** Returns a reader that never throws: if a getter of the input throws, its message is the issue. */
export function reader<T>(read: (value: unknown) => Read<T>): (value: unknown) => Read<T> {
  return (value) => {
    try {
      return read(value);
    } catch (error) {
      return { issues: [{ message: unreadable(error), path: [] }] };
    }
  };
}

/** The issue of an input whose getter has thrown. */
export function unreadable(error: unknown): string {
  return `the input cannot be read: ${messageOf(error)}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the Standard Schema of the inputs that `read` accepts. `json` makes a new JSON Schema each time. */
export function standardSchema<T>(read: (value: unknown) => Read<T>, json: () => Record<string, unknown>) {
  const convert = ({ target }: { readonly target: string }) => {
    // Nullable types are type lists, which OpenAPI 3.0 lacks.
    if (!target.startsWith('draft-')) throw new Error(`agent-bash gives JSON Schema drafts, not ${target}`);
    return json();
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-bash',
      validate: read,
      jsonSchema: { input: convert, output: convert },
    },
  } as const;
}

/** Bounds of the time limit that a model may ask for, in ms. */
export const SHORTEST_LIMIT_MS = 1_000;
export const LONGEST_LIMIT_MS = 3_600_000;

/** Returns the longest time limit of a command in the background, in ms. */
export function longestBackgroundMs(): number {
  return innerOf(bash).facts().request.maxLimitMs;
}

/** Returns the time limit of a mode in words. `moves`: whether the command then moves to the background. */
export function modeLimit(mode: string | undefined, moves = false): string {
  const { modeLimitsMs, movingLimitMs } = innerOf(bash).facts().request;
  if (mode === 'slow' || mode === 'background') return inWords(modeLimitsMs[mode]);
  return inWords(moves ? movingLimitMs : modeLimitsMs.default);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `30 s`, `120 s`, `15 min`, `24 h`. */
function inWords(ms: number): string {
  if (ms % HOUR_MS === 0) return `${ms / HOUR_MS} h`;
  if (ms % MINUTE_MS === 0 && ms > 2 * MINUTE_MS) return `${ms / MINUTE_MS} min`;
  return `${ms / 1_000} s`;
}

const MODES = ['default', 'slow', 'background'] as const;
/** The fields of the input. Any other field is ignored, with a note. */
export const INPUT_FIELDS: readonly string[] = [
  'command',
  'mode',
  'timeout_ms',
  'cwd',
  'head',
  'tail',
  'check_pid',
  'kill_pid',
  'wait_pid',
  'port',
  'pattern',
];

/** The fields that only `wait_pid` has. */
export const WAIT_FIELDS: readonly string[] = ['port', 'pattern'];
/** The longest wait of a `wait_pid` that names none, and the longest pattern in characters. */
export const WAIT_MS = 30_000;
export const MOST_PATTERN = 1_000;

/** The field with which a model asks for access. The schema has it if the host answers. */
export const ACCESS_FIELD = 'access';

/** The field by which a model undoes a run. The schema has it if runs can be undone. */
export const UNDO_FIELD = 'undo_run';

/** The fields by which a model looks at its draft and has it committed. The schema has them if commands run in one. */
export const CHANGES_FIELD = 'draft_changes';
export const COMMIT_FIELD = 'draft_commit';
const CHANGES = ['summary', 'diff'] as const;

/** The field by which a model gets lines that were left out. The schema has it if lines may be left out. */
export const RECALL_FIELD = 'recall';

/** The field by which a model has a command run whatever is stored. The schema has it if results may be given again. */
export const FRESH_FIELD = 'fresh';

const OPTIONAL_FIELDS = [ACCESS_FIELD, UNDO_FIELD, RECALL_FIELD, FRESH_FIELD, CHANGES_FIELD, COMMIT_FIELD];

/** The fields that the input has with some options only. */
export interface OptionalFields {
  /** Whether the model may ask for access. */
  asks: boolean;
  /** Whether the model may undo runs. */
  undoes: boolean;
  /** Whether the model may recall lines that were left out. */
  recalls: boolean;
  /** Whether stored results may be given again. */
  reuses: boolean;
  /** Whether commands run in a draft. */
  drafts: boolean;
  /** Whether the model may ask for the commit of the draft. */
  commits: boolean;
}

/** The optional fields of a tool that has none. */
export const NO_FIELDS: OptionalFields = {
  asks: false,
  undoes: false,
  recalls: false,
  reuses: false,
  drafts: false,
  commits: false,
};

/** The schema of `access`. */
export const ACCESS_SCHEMA = {
  type: ['object', 'null'],
  properties: {
    write: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Existing files or directories that the command is to change.',
    },
    network: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Hosts that it is to reach, as "host" (ports 80 and 443) or "host:port".',
    },
    reason: { type: 'string', description: 'Why the task needs it, in one sentence for a person.' },
  },
  required: ['write', 'network', 'reason'],
  additionalProperties: false,
  description:
    'Only after a command was denied something: what it needs beyond its confinement. The host is asked, and refuses what is too much.',
};

/**
 * Strict modes require every property and forbid others, so optional properties are nullable. The validation checks
 * bounds, because strict modes differ in the keywords they accept.
 */
function jsonSchema(fields: OptionalFields): Record<string, unknown> {
  const optional = optionalProperties(fields);
  return {
    type: 'object',
    properties: {
      command: {
        type: ['string', 'null'],
        description: `The command, run by bash -c. Exactly one of ${subjectList(fields)} is given.`,
      },
      mode: {
        type: ['string', 'null'],
        enum: [...MODES, null],
        description: `"slow" for builds, downloads, installs and tests (${modeLimit('slow')}), "background" for servers and demos: returns at once. Default: "default".`,
      },
      timeout_ms: {
        type: ['integer', 'null'],
        description: `Time limit in milliseconds, ${SHORTEST_LIMIT_MS} to ${LONGEST_LIMIT_MS}.`,
      },
      cwd: { type: ['string', 'null'], description: 'Folder to run in, absolute or relative to the working folder.' },
      head: {
        type: ['integer', 'null'],
        description: `Only the first N lines, as "| head -n N": the command is ended ${AFTER_LAST_LINE_MS / 1_000} s after line N.`,
      },
      tail: {
        type: ['integer', 'null'],
        description: 'Only the last N lines, as "| tail -n N", with the exit code of the command itself.',
      },
      check_pid: {
        type: ['integer', 'null'],
        description: 'In place of a command: the state and the new output of the background process with this pid.',
      },
      kill_pid: {
        type: ['integer', 'null'],
        description: 'In place of a command: ends the background process with this pid and all it started.',
      },
      wait_pid: {
        type: ['integer', 'null'],
        description: `In place of a command: waits until the background process with this pid has ended, its port accepts connections or its new output matches pattern, at most timeout_ms (default ${WAIT_MS}).`,
      },
      port: { type: ['integer', 'null'], description: 'With wait_pid: the port that a server is to listen on.' },
      pattern: {
        type: ['string', 'null'],
        description: 'With wait_pid: a regular expression for the output, such as "ready|listening".',
      },
      ...optional,
    },
    required: [...INPUT_FIELDS, ...Object.keys(optional)],
    additionalProperties: false,
  };
}

function optionalProperties(fields: OptionalFields): Record<string, unknown> {
  const { asks, undoes, recalls, reuses, drafts, commits } = fields;
  return {
    ...(undoes && {
      [UNDO_FIELD]: {
        type: ['string', 'null'],
        description:
          'In place of a command: takes back what the run with this id changed in files. What has changed since stays.',
      },
    }),
    ...(recalls && {
      [RECALL_FIELD]: {
        type: ['string', 'null'],
        description:
          'In place of a command: lines of an output as they were. "12:40-95" gives lines 40 to 95 of output #12, "12 /pattern/" those that match a regular expression.',
      },
    }),
    ...(drafts && {
      [CHANGES_FIELD]: {
        type: ['string', 'null'],
        enum: [...CHANGES, null],
        description: 'In place of a command: what the draft has changed, as a "summary" or as a "diff".',
      },
    }),
    ...(commits && {
      [COMMIT_FIELD]: {
        type: ['boolean', 'null'],
        description: 'In place of a command: true asks a person to commit the draft.',
      },
    }),
    ...(reuses && {
      [FRESH_FIELD]: {
        type: ['boolean', 'null'],
        description: 'True runs the command even if nothing has changed since its last run.',
      },
    }),
    ...(asks && { [ACCESS_FIELD]: structuredClone(ACCESS_SCHEMA) }),
  };
}

/** The subjects of a call. An input has exactly one. */
function subjectsOf({ undoes, recalls, drafts, commits }: OptionalFields): string[] {
  return [
    'command',
    'check_pid',
    'kill_pid',
    'wait_pid',
    ...(undoes ? [UNDO_FIELD] : []),
    ...(recalls ? [RECALL_FIELD] : []),
    ...(drafts ? [CHANGES_FIELD] : []),
    ...(commits ? [COMMIT_FIELD] : []),
  ];
}

/** `command, check_pid, kill_pid and wait_pid` */
function subjectList(fields: OptionalFields): string {
  const subjects = subjectsOf(fields);
  return `${subjects.slice(0, -1).join(', ')} and ${subjects.at(-1)}`;
}

/**
 * Returns a reader of inputs with these fields. The reader returns a copy of the input, or the reason why it is
 * invalid. Unknown fields stay, so that the call can name them in a note. Each field is read once, so the checked
 * command is the command that runs.
 */
export function inputReader(fields: OptionalFields): (given: unknown) => Read<BashToolInput> {
  return reader((given) => read(given, fields));
}

function read(given: unknown, optional: OptionalFields): Read<BashToolInput> {
  if (!isRecord(given)) return { issues: [{ message: 'the input must be an object', path: [] }] };
  const names = new Set([...Object.keys(given), ...INPUT_FIELDS, ...OPTIONAL_FIELDS]);
  const fields = [...names].map((name) => [name, given[name]] as const);
  const value: Record<string, unknown> = Object.fromEntries(fields.filter(([, field]) => field !== undefined));
  const issues: BashInputIssue[] = [];
  const check = (field: string, fits: (given: unknown) => boolean, message: string) => {
    const given = value[field];
    if (given !== undefined && given !== null && !fits(given))
      issues.push({ message: `${field} ${message}`, path: [field] });
  };
  const isCount = (given: unknown) => Number.isSafeInteger(given) && (given as number) >= 1;
  check('command', (given) => typeof given === 'string', 'must be a string');
  check('mode', (given) => (MODES as readonly unknown[]).includes(given), 'must be "default", "slow" or "background"');
  check('timeout_ms', Number.isFinite, 'must be a number of milliseconds');
  check('cwd', (given) => typeof given === 'string', 'must be a string');
  check('head', isCount, 'must be a whole number of at least 1');
  check('tail', isCount, 'must be a whole number of at least 1');
  for (const pid of ['check_pid', 'kill_pid', 'wait_pid']) {
    check(pid, isCount, 'must be the pid of a background process');
  }
  const isText = (given: unknown) => typeof given === 'string' && given !== '';
  check('port', (given) => isCount(given) && (given as number) <= 65_535, 'must be a port, 1 to 65535');
  check(
    'pattern',
    (given) => isText(given) && (given as string).length <= MOST_PATTERN,
    `must be a regular expression of at most ${MOST_PATTERN} characters`,
  );
  if (optional.undoes) check(UNDO_FIELD, isText, 'must be the id of a run');
  if (optional.recalls) check(RECALL_FIELD, isText, 'must be "12:40-95" or "12 /pattern/"');
  if (optional.reuses) check(FRESH_FIELD, (given) => typeof given === 'boolean', 'must be true or false');
  if (optional.drafts) {
    check(CHANGES_FIELD, (given) => (CHANGES as readonly unknown[]).includes(given), 'must be "summary" or "diff"');
  }
  if (optional.commits) {
    check(COMMIT_FIELD, (given) => typeof given === 'boolean', 'must be true');
    if (value[COMMIT_FIELD] === false) value[COMMIT_FIELD] = null;
  }
  if (value.access !== undefined) value.access = accessIn(value.access, issues);
  const subjects = subjectsOf(optional);
  if (subjects.filter((subject) => value[subject] !== undefined && value[subject] !== null).length !== 1) {
    const known = [
      ...INPUT_FIELDS,
      ...subjects,
      ...(optional.asks ? [ACCESS_FIELD] : []),
      ...(optional.reuses ? [FRESH_FIELD] : []),
    ];
    const unknown = Object.keys(value).filter((field) => !known.includes(field));
    const named = unknown.map((field) => `; unknown input ${withNearest(field, known)}`);
    issues.push({ message: `exactly one of ${subjectList(optional)} must be given${named.join('')}`, path: [] });
  }
  return issues.length > 0 ? { issues } : { value };
}

/** Returns the note on inputs without effect. An input that does not exist has the nearest one of `known` beside it. */
export function ignoredInput(fields: readonly string[], known: readonly string[]): string[] {
  if (fields.length === 0) return [];
  return [`ignored input: ${fields.map((field) => withNearest(field, known)).join(', ')}`];
}

/** What other shells for models call an input. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  background: 'mode "background"',
  bash: 'command',
  cmd: 'command',
  directory: 'cwd',
  input: 'command',
  is_background: 'mode "background"',
  pid: 'check_pid',
  run_in_background: 'mode "background"',
  script: 'command',
  timeout: 'timeout_ms',
  workdir: 'cwd',
  working_directory: 'cwd',
};

/** Returns the name of an input that does not exist, with the one that was probably meant. */
function withNearest(field: string, known: readonly string[]): string {
  if (known.includes(field)) return WAIT_FIELDS.includes(field) ? `${field} (it goes with wait_pid)` : field;
  const meant = Object.hasOwn(ELSEWHERE, field) ? ELSEWHERE[field] : nearestTo(field, known);
  return meant == null ? field : `${field} (did you mean ${meant}?)`;
}

/** Returns a copy of an access, read once, or `null`. Each mistake in it becomes an issue. */
export function accessIn(given: unknown, issues: BashInputIssue[]): BashToolInput['access'] {
  if (given === null) return null;
  const wrong = (message: string) => issues.push({ message: `access ${message}`, path: [ACCESS_FIELD] });
  if (!isRecord(given)) {
    wrong('must be an object with write, network and reason');
    return null;
  }
  const { write, network, reason } = given;
  const list = (name: string, value: unknown): string[] => {
    if (value === undefined || value === null) return [];
    const copy: unknown[] | null = Array.isArray(value) ? [...value] : null;
    if (copy?.every((item) => typeof item === 'string') && copy.length <= MOST_ASKED) return copy as string[];
    wrong(`must have ${name} as an array of at most ${MOST_ASKED} strings`);
    return [];
  };
  const asked = { write: list('write', write), network: list('network', network) };
  if (typeof reason !== 'string' || reason.trim() === '') wrong('must have a reason');
  return { ...asked, reason: String(reason) };
}

/** Paths, and hosts, that one call may ask for. A person must be able to judge them. */
const MOST_ASKED = 20;

/** Returns the schema of the input. */
export function inputSchemaOf(fields: OptionalFields = NO_FIELDS): BashInputSchema {
  return standardSchema(inputReader(fields), () => jsonSchema(fields));
}

export const contextSchema: BashContextSchema = {
  '~standard': {
    version: 1,
    vendor: 'agent-bash',
    validate: (value: unknown) => ({ value: value as BashToolContext }),
  },
};
