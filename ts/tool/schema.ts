import { LONGEST_LIMIT_MS, modeLimit, SHORTEST_LIMIT_MS } from './limits.ts';
import { AFTER_LAST_LINE_MS } from './lines/head-stop.ts';
import { isRecord, type Read, reader } from './read.ts';
import type { BashContextSchema, BashInputIssue, BashInputSchema, BashToolContext, BashToolInput } from './types.ts';

const MODES = ['default', 'slow', 'background'] as const;
/** The subjects of a call. An input has exactly one. */
const SUBJECTS = ['command', 'check_pid', 'kill_pid'] as const;

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
];

/**
 * Strict modes require every property and forbid others, so optional properties are nullable. The validation checks
 * bounds, because strict modes differ in the keywords they accept.
 */
function jsonSchema(): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      command: {
        type: ['string', 'null'],
        description: 'The command, run by bash -c. Exactly one of command, check_pid and kill_pid is given.',
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
    },
    required: [...INPUT_FIELDS],
    additionalProperties: false,
  };
}

/**
 * Returns a copy of the input, or the reason why it is invalid. Unknown fields stay, so that the call can name them in
 * a note. Each field is read once, so the command that runs is the one that was checked.
 */
export const readInput = reader((given): Read<BashToolInput> => {
  if (!isRecord(given)) return { issues: [{ message: 'the input must be an object', path: [] }] };
  const names = new Set([...Object.keys(given), ...INPUT_FIELDS]);
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
  check('check_pid', isCount, 'must be the pid of a background process');
  check('kill_pid', isCount, 'must be the pid of a background process');
  if (SUBJECTS.filter((subject) => value[subject] !== undefined && value[subject] !== null).length !== 1) {
    issues.push({ message: 'exactly one of command, check_pid and kill_pid must be given', path: [] });
  }
  return issues.length > 0 ? { issues } : { value };
});

function convert({ target }: { readonly target: string }): Record<string, unknown> {
  // Nullable types are type lists, which OpenAPI 3.0 lacks.
  if (!target.startsWith('draft-')) throw new Error(`agent-bash gives JSON Schema drafts, not ${target}`);
  return jsonSchema();
}

export const inputSchema: BashInputSchema = {
  '~standard': {
    version: 1,
    vendor: 'agent-bash',
    validate: readInput,
    jsonSchema: { input: convert, output: convert },
  },
};

export const contextSchema: BashContextSchema = {
  '~standard': {
    version: 1,
    vendor: 'agent-bash',
    validate: (value: unknown) => ({ value: value as BashToolContext }),
  },
};
