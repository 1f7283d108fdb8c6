import type { HighlightToken } from 'agent-bash';
import { type OptionTable, PLAIN, unknownOption } from '../core/option-names.ts';
import { TOKEN_COLOURS } from '../core/token-colours.ts';
import type { RenderInput, RenderOptions } from './types.ts';

/** Options with their defaults. */
export interface Settings {
  expanded: boolean;
  columns: number;
  colour: boolean;
  previewLines: number;
}

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isFlag: Test = (value) => typeof value === 'boolean';
const isObject: Test = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTime: Test = (value) => typeof value === 'number' && value >= 0;
const isWhole =
  (least: number): Test =>
  (value) =>
    value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= least);

const isSpan: Test = (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
const isToken: Test = (value) => {
  const { start, end, class: kind } = Object(value) as Partial<HighlightToken>;
  return Number.isInteger(start) && Number.isInteger(end) && Object.hasOwn(TOKEN_COLOURS, String(kind));
};

const TIME = 'a number of milliseconds';
const INPUT: Record<keyof RenderInput, [Test, string]> = {
  command: [isText, 'a string'],
  cwd: [isText, 'a string'],
  tokens: [(value) => Array.isArray(value) && value.every(isToken), 'the tokens of highlight()'],
  marked: [(value) => Array.isArray(value) && value.every(isSpan), 'an array of [from, to]'],
  result: [(value) => value === null || isObject(value), 'a BashResult, or null while the command runs'],
  output: [isText, 'a string'],
  elapsedMs: [isTime, TIME],
  timeoutMs: [isTime, TIME],
  error: [
    (value) => value === null || (isObject(value) && isText((value as { message?: unknown }).message)),
    'an error with a message, or null',
  ],
};

const OPTIONS: Record<keyof RenderOptions, [Test, string]> = {
  expanded: [isFlag, 'a boolean'],
  columns: [isWhole(1), 'a whole number of at least 1, or Infinity'],
  colour: [isFlag, 'a boolean'],
  previewLines: [isWhole(0), 'a whole number of at least 0'],
};

const OPTION_NAMES: OptionTable = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, PLAIN]));

const STATUSES = ['exited', 'signaled', 'timed-out', 'aborted', 'backgrounded', 'lost'];
const RESULT: Record<string, [Test, string]> = {
  stdout: [isText, 'a string'],
  stderr: [isText, 'a string'],
  status: [(value) => STATUSES.includes(value as string), `one of ${STATUSES.join(', ')}`],
  truncation: [isObject, 'an object'],
  survivors: [Array.isArray, 'an array'],
  notes: [Array.isArray, 'an array'],
};

const RECEIPT_LISTS = ['created', 'modified', 'deleted', 'renamed', 'directories', 'git'];

/** The parts of a receipt that are shown. */
const isReceipt: Test = (value) => {
  if (!isObject(value)) return false;
  const { counts, ports, ...lists } = value as Record<string, unknown>;
  const { opened, closed } = Object(ports) as Record<string, unknown>;
  const all = [...RECEIPT_LISTS.map((name) => lists[name]), opened, closed];
  return isObject(counts) && all.every((list) => Array.isArray(list) && list.every((item) => item !== null));
};

/** The parts of a view that are shown. */
const isView: Test = (value) => {
  if (!isObject(value)) return false;
  const { tokens, elided } = value as Record<string, unknown>;
  return isObject(tokens) && Array.isArray(elided) && elided.every(isObject);
};

/** The parts of evidence that are shown. */
const isEvidence: Test = (value) => {
  if (!isObject(value)) return false;
  const { masked, tests, checks } = value as Record<string, unknown>;
  return [masked, tests, checks].every((list) => Array.isArray(list) && list.every(isObject));
};

/** Fields that a result of an older version lacks. */
const LATER: Record<string, [Test, string]> = {
  confinement: [
    (value) => value === null || (isObject(value) && Array.isArray((value as { denied?: unknown }).denied)),
    'a Confinement, or null',
  ],
  runId: [isText, 'a string'],
  receipt: [(value) => value === null || isReceipt(value), 'a Receipt, or null'],
  undo: [
    (value) => value === null || (isObject(value) && Array.isArray((value as { notCovered?: unknown }).notCovered)),
    'an UndoCoverage, or null',
  ],
  evidence: [(value) => value === null || isEvidence(value), 'Evidence, or null'],
  view: [(value) => value === null || isView(value), 'a View, or null'],
};

/** Checks the types and returns the options with their defaults. Throws `ERR_BASH_INVALID_ARG` for a wrong type. */
export function settle(entry: string, input: unknown, options: unknown): asserts input is RenderInput {
  if (!isObject(input)) throw invalid('run', input, 'an object with a command and its result');
  const run = input as RenderInput;
  for (const name of ['command', 'result'] as const) {
    if (run[name] === undefined) throw invalid(name, undefined, INPUT[name][1]);
  }
  check(run, INPUT, '');
  if (run.result) {
    for (const name in RESULT) {
      if (!Object.hasOwn(run.result, name)) throw invalid(`result.${name}`, undefined, RESULT[name]?.[1] ?? '');
    }
    check(run.result, { ...RESULT, ...LATER }, 'result.');
  }
  if (!isObject(options)) throw invalid('options', options, 'an object');
  const unknown = unknownOption(entry, options as object, OPTION_NAMES);
  if (unknown !== null) throw failure(unknown);
  check(options as object, OPTIONS, '');
}

/** Returns checked options with their defaults. */
export function settings({ expanded, columns, colour, previewLines }: RenderOptions): Settings {
  return {
    expanded: expanded ?? false,
    columns: columns ?? 80,
    colour: colour ?? true,
    previewLines: previewLines ?? 20,
  };
}

function check(given: object, tests: Record<string, [Test, string]>, before: string): void {
  for (const name in tests) {
    const value = (given as Record<string, unknown>)[name];
    const [test, wanted] = tests[name] as [Test, string];
    if (value !== undefined && !test(value)) throw invalid(`${before}${name}`, value, wanted);
  }
}

function invalid(name: string, value: unknown, wanted: string): Error {
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : typeof value;
  return failure(`${name}: ${typeof value === 'number' ? value : shown} is not ${wanted}`);
}

function failure(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_BASH_INVALID_ARG' });
}
