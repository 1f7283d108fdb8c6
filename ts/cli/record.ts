import type { BashOptions, BashResult } from 'agent-bash';
import { type Command, InvalidArgumentError } from 'commander';
import { foreignWords } from '../core/foreign.ts';
import { receiptLine } from '../core/receipt-line.ts';

type Receipt = NonNullable<BashOptions['receipt']>;
type Undo = 'risky' | 'always';
type Evidence = NonNullable<BashOptions['evidence']>;

/** The options that record what commands change, as commander gives them. */
export interface RecordFlags {
  receipt?: Receipt;
  undo?: Undo;
}

const RECEIPTS: readonly string[] = ['watch', 'exact'] satisfies Receipt[];
const UNDOS: readonly string[] = ['risky', 'always'] satisfies Undo[];

/** The option that watches the parts of commands, as commander gives it. */
export interface EvidenceFlags {
  evidence?: Evidence;
}

/** The options of `run` about evidence. */
export interface StrictFlags extends EvidenceFlags {
  strict?: boolean;
}

/** The words of `run`, which watches nothing without the option. */
const EVIDENCE_OF_RUN: readonly string[] = ['status', 'tree'] satisfies Evidence[];
/** The words of `mcp`, which watches the parts without it. */
const EVIDENCE_OF_MCP: readonly string[] = [...EVIDENCE_OF_RUN, 'off' satisfies Evidence];

/** Adds the options to `run`. */
export function addEvidenceFlags(command: Command): Command {
  return command
    .option(
      '--evidence [how]',
      'say which failures its exit code hides: status (default), or tree, which also says what changed',
      oneOf(EVIDENCE_OF_RUN),
    )
    .option('--strict', 'exit with the code of the first failure that its exit code 0 hides, and with 1 if unproven');
}

/** Returns the option of `bash()`. */
export function evidenceOf({ evidence, strict }: StrictFlags): Evidence | undefined {
  return evidence ?? (strict ? 'status' : undefined);
}

/**
 * Returns the exit code with `--strict`: if the command's own is 0, that of the first hidden failure, and 1 if
 * something is not proved to have ended well.
 */
export function strictCode({ exitCode, evidence }: Pick<BashResult, 'exitCode' | 'evidence'>): number | null {
  if (exitCode !== 0 || !evidence) return exitCode;
  if (evidence.verdict === 'unproven') return 1;
  return evidence.verdict === 'passed' ? 0 : (evidence.masked[0]?.exitCode ?? 1);
}

/** Adds the option to `mcp`. */
export function addMcpEvidenceFlag(command: Command): Command {
  return command.option(
    '--evidence [how]',
    'what each part of a command returned: status (default), tree, which also says what changed, or off',
    oneOf(EVIDENCE_OF_MCP),
  );
}

/** Adds these options to a command. */
export function addRecordFlags(command: Command): Command {
  return command
    .option(
      '--receipt [way]',
      'say what it changed: exact (default), or watch, which leaves the command as it is',
      oneOf(RECEIPTS),
    )
    .option(
      '--undo [when]',
      'keep what it changes, for agent-bash undo: always (default), or risky commands only',
      oneOf(UNDOS),
    );
}

/** Returns the parser of one of these words. */
export function oneOf<T extends string>(words: readonly string[]): (text: string) => T {
  return (text) => {
    if (words.includes(text)) return text as T;
    throw new InvalidArgumentError(`It must be ${words.join(' or ').replace(/ or (?=.* or )/g, ', ')}.`);
  };
}

/**
 * Gives bare flags their value. Otherwise Commander would take the next argument as the value, and this is the command
 * of `run` unless it is a value of the flag.
 */
export function withRecordWords(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const isBare = (at: number, flag: string, values: readonly string[]) =>
    words[at] === flag && (end < 0 || at < end) && !values.includes(words[at + 1] ?? '');
  return words.map((word, at) => {
    if (isBare(at, '--receipt', RECEIPTS)) return '--receipt=exact';
    if (isBare(at, '--evidence', EVIDENCE_OF_MCP)) return '--evidence=status';
    return isBare(at, '--undo', UNDOS) ? '--undo=always' : word;
  });
}

/** Returns the options of `bash()`. */
export function recordOf({ receipt, undo }: RecordFlags): Pick<BashOptions, 'receipt' | 'undo'> {
  return { ...(receipt && { receipt }), ...(undo && { undo }) };
}

/** Characters of the line about changes. */
const LINE_LENGTH = 200;

/** Returns the changes of a command and how to undo them, one line each. `words` name its target for the undo. */
export function recordLines(
  { runId, receipt, undo }: Pick<BashResult, 'runId' | 'receipt' | 'undo'>,
  cwd: string,
  words: string,
) {
  if (!receipt) return [];
  const line = receiptLine({ ...receipt, state: 'known' }, [cwd], LINE_LENGTH);
  const { state, why, attribution } = receipt;
  const changed = attribution === 'window' ? 'changed while it ran' : 'changed';
  return [
    `${changed}: ${line === '' ? 'nothing' : line}`,
    ...(state === 'known' ? [] : [foreignWords(`the receipt is ${state}: ${why}`)]),
    // A run that changed nothing leaves nothing to undo.
    ...(undo === null || (line === '' && state === 'known') ? [] : [undoLine(`${runId}${words}`, undo)]),
  ];
}

function undoLine(run: string, { covers, notCovered }: NonNullable<BashResult['undo']>): string {
  const but = notCovered.length === 0 ? '' : ` (not covered: ${foreignWords(notCovered.join('; '))})`;
  return `${covers === 'all' ? 'undo' : 'undo in part'}: agent-bash undo ${run}${but}`;
}
