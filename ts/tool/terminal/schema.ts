import {
  ACCESS_FIELD,
  ACCESS_SCHEMA,
  accessIn,
  ignoredInput,
  isRecord,
  MOST_PATTERN,
  type Read,
  reader,
  standardSchema,
} from '../schema.ts';
import type { BashInputIssue } from '../types.ts';
import type { TerminalInputSchema, TerminalToolInput } from './types.ts';

type Action = TerminalToolInput['action'];
type Field = Exclude<keyof TerminalToolInput, 'action'>;

/** The fields that each action takes. */
const FIELDS: Readonly<Record<Action, readonly Field[]>> = {
  start: ['command', 'cwd', 'cols', 'rows', 'changed', 'access'],
  send: ['id', 'text', 'paste', 'keys', 'changed'],
  read: ['id', 'changed'],
  wait: ['id', 'text', 'pattern', 'idle_ms', 'timeout_ms', 'changed'],
  resize: ['id', 'cols', 'rows', 'changed'],
  stop: ['id'],
  list: [],
};
const ACTIONS = Object.keys(FIELDS) as Action[];

/** The screen of a terminal whose size the model leaves out. */
export const COLS = 80;
export const ROWS = 24;
/** The widest screen that a model should read. */
const MOST_COLS = 500;
const MOST_ROWS = 200;
/** Longer text belongs in a file. */
const MOST_TEXT = 100_000;
const MOST_KEYS = 1_000;
const LONGEST_IDLE_MS = 60_000;
/** The time that a `wait` takes at most, if the model names none and if it names one. */
export const WAIT_MS = 10_000;
export const LONGEST_WAIT_MS = 300_000;

/** Returns the note on non-null fields that an action does not take. `asks`: whether it takes `access`. */
export function ignoredFields(input: TerminalToolInput, asks: boolean): string[] {
  const taken: readonly string[] = ['action', ...FIELDS[input.action].filter((name) => asks || name !== ACCESS_FIELD)];
  const ignored = Object.entries(input).flatMap(([name, value]) =>
    value == null || taken.includes(name) ? [] : [name],
  );
  return ignoredInput(ignored, taken);
}

/**
 * Properties are nullable and required for strict modes. The validation checks bounds, because strict modes differ in
 * the keywords they accept.
 */
function jsonSchema(asks: boolean): Record<string, unknown> {
  const string = (description: string) => ({ type: ['string', 'null'], description });
  const integer = (description: string) => ({ type: ['integer', 'null'], description });
  const properties = {
    action: {
      type: 'string',
      enum: [...ACTIONS],
      description:
        'start: runs a command in a new terminal. send: types. read: the screen as it is. wait: until something appears, it is quiet, or the program ends. resize. stop: ends the program. list: all terminals.',
    },
    id: string('The terminal, as start named it ("t1"). May be null while there is only one.'),
    command: string('start: the command, run by bash -c.'),
    cwd: string('start: the folder to start in, absolute or relative to the working folder.'),
    cols: integer(`start, resize: columns, 1 to ${MOST_COLS}. Default ${COLS}.`),
    rows: integer(`start, resize: rows, 1 to ${MOST_ROWS}. Default ${ROWS}.`),
    text: string('send: text to type; "\\n" is Enter. wait: text that is to appear on the screen.'),
    paste: string('send: text to paste, behind text: for many lines into an editor or a REPL.'),
    keys: {
      type: ['array', 'null'],
      items: { type: 'string' },
      description:
        'send: keys to press in turn, behind text and paste: Enter, Tab, Shift-Tab, Escape, Backspace, Delete, Insert, Up, Down, Left, Right, Home, End, PageUp, PageDown, Space, F1 to F12, Ctrl-C, Alt-x, Ctrl-Left, or a single character.',
    },
    pattern: string('wait: a regular expression that the whole screen is to match; "$" is the end of its text.'),
    idle_ms: integer('wait: until nothing was written for that many milliseconds.'),
    timeout_ms: integer(`wait: at most that many milliseconds, up to ${LONGEST_WAIT_MS}. Default ${WAIT_MS}.`),
    changed: {
      type: ['boolean', 'null'],
      description: 'true: only the rows that changed since you last looked, with their numbers. Default: the screen.',
    },
    ...(asks && { [ACCESS_FIELD]: { ...structuredClone(ACCESS_SCHEMA), description: ACCESS_OF_START } }),
  };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns a copy of the input, or the reason why it is invalid. */
export const readInput = reader((value): Read<TerminalToolInput> => {
  if (!isRecord(value)) return issue('the input must be an object');
  const given: Record<string, unknown> = { ...value };
  const action = ACTIONS.find((known) => known === given.action);
  if (action === undefined) return issue(`action must be one of ${ACTIONS.join(', ')}`, 'action');
  const issues: BashInputIssue[] = [];
  const there = (field: Field) => given[field] !== undefined && given[field] !== null;
  const check = (field: Field, fits: (given: unknown) => boolean, message: string) => {
    if (there(field) && !fits(given[field])) issues.push({ message: `${field} ${message}`, path: [field] });
  };
  const whole = (field: Field, most: number) =>
    check(
      field,
      (n) => Number.isInteger(n) && (n as number) >= 1 && (n as number) <= most,
      `must be a whole number from 1 to ${most}`,
    );
  for (const field of ['id', 'command', 'cwd', 'pattern'] as const) check(field, isString, 'must be a string');
  for (const field of ['text', 'paste'] as const) {
    check(field, isString, 'must be a string');
    check(
      field,
      (text) => !isString(text) || text.length <= MOST_TEXT,
      `must have at most ${MOST_TEXT} characters: write a file for more`,
    );
    check(
      field,
      (text) => !isString(text) || !text.includes('\0'),
      'must not hold a NUL: the key Ctrl-Space sends one',
    );
  }
  check(
    'keys',
    (keys) => isString(keys) || (Array.isArray(keys) && keys.every(isString)),
    'must be an array of names of keys',
  );
  check(
    'keys',
    (keys) => (isString(keys) || Array.isArray(keys) ? keys.length : 0) <= MOST_KEYS,
    `must be at most ${MOST_KEYS}`,
  );
  check(
    'pattern',
    (pattern) => !isString(pattern) || pattern.length <= MOST_PATTERN,
    `must have at most ${MOST_PATTERN} characters`,
  );
  whole('cols', MOST_COLS);
  whole('rows', MOST_ROWS);
  whole('idle_ms', LONGEST_IDLE_MS);
  check('timeout_ms', Number.isFinite, 'must be a number of milliseconds');
  if (given.access !== undefined) given.access = accessIn(given.access, issues);
  check('changed', (flag) => typeof flag === 'boolean', 'must be true or false');
  for (const message of contradictions(action, there)) issues.push({ message, path: [] });
  return issues.length > 0 ? { issues } : { value: given as unknown as TerminalToolInput };
});

/** Returns why the fields of an input do not go together. */
function contradictions(action: Action, there: (field: Field) => boolean): string[] {
  const found: string[] = [];
  const wrong = (message: string) => found.push(message);
  if (action === 'start' && !there('command')) wrong('start needs a command');
  if (action === 'start' && there('id'))
    wrong('start gives the id of the new terminal: give either a command to start or the id of a terminal');
  if (action !== 'start' && there('command')) wrong(`${action} takes no command: give one to start, or text to send`);
  if (action === 'send' && !there('text') && !there('paste') && !there('keys')) wrong('send needs text, paste or keys');
  if (action === 'resize' && !there('cols') && !there('rows')) wrong('resize needs cols or rows');
  if (action === 'wait' && there('text') && there('pattern')) wrong('wait takes text or a pattern, not both');
  return found;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function issue(message: string, ...path: [string] | []): { issues: BashInputIssue[] } {
  return { issues: [{ message, path }] };
}

const ACCESS_OF_START = `start: ${ACCESS_SCHEMA.description}`;

/** Returns the schema of the input. `asks`: whether the model may ask for access. */
export function inputSchemaOf(asks: boolean): TerminalInputSchema {
  return standardSchema(readInput, () => jsonSchema(asks));
}
