import { BashError, type BashOptions, bash, type OutputStore, type ReduceOptions } from 'agent-bash';
import { checkFunctions } from '../core/functions.ts';
import { type Inner, innerOf } from '../core/inner.ts';
import { internalKey } from '../core/internal.ts';
import { type OptionTable, type OptionTableOf, PLAIN, unknownOption } from '../core/option-names.ts';
import { type Level, STORE } from '../reduce/keeping.ts';
import type { BashToolOptions, InterceptRule } from './types.ts';

/** The options of a tool that `bash()` does not have. */
const OF_TOOLS: OptionTableOf<Omit<BashToolOptions, keyof BashOptions>> = {
  perCall: PLAIN,
  session: PLAIN,
  sandbox: PLAIN,
  errorOnFailure: PLAIN,
  terminal: {
    fields: { cols: PLAIN, rows: PLAIN, onStart: PLAIN } satisfies OptionTableOf<
      NonNullable<BashToolOptions['terminal']>
    >,
  },
  availableTools: PLAIN,
  interceptor: PLAIN,
  run: PLAIN,
  updateIntervalMs: PLAIN,
  description: PLAIN,
  outputs: PLAIN,
  onAccess: PLAIN,
  commit: PLAIN,
  onBeforeRun: PLAIN,
  onAfterRun: PLAIN,
};

/** The options of `bash()` that belong to a call, and not to a tool. */
const OF_CALLS: OptionTableOf<Omit<BashOptions, keyof BashToolOptions>> = {
  signal: PLAIN,
  onOutput: PLAIN,
  onSnapshot: PLAIN,
  snapshotIntervalMs: PLAIN,
};

const OF_RULES: OptionTableOf<InterceptRule> = { pattern: PLAIN, tool: PLAIN, message: PLAIN };

/** The tables of the main entry. */
export function innerOptions(): Inner['options'] {
  return innerOf(bash).options;
}

let tools: OptionTable | undefined;

/** Every option of a tool. */
function toolOptions(): OptionTable {
  tools ??= {
    ...Object.fromEntries(Object.entries(innerOptions().bash).filter(([name]) => !Object.hasOwn(OF_CALLS, name))),
    // A mistake in `safety` is the error of each call, which a model or a person reads: hosts take it from settings
    // of their users.
    safety: PLAIN,
    ...OF_TOOLS,
  };
  return tools;
}

/** Throws `ERR_BASH_INVALID_ARG` for options that are not an object. */
export function checkObject(options: unknown): asserts options is object {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw noObject(options);
}

/** Throws `ERR_BASH_INVALID_ARG` for options that are not an object, and for an unknown option. */
export function checkOptionNames(entry: string, options: unknown, table: OptionTable = toolOptions()): void {
  checkObject(options);
  const unknown = unknownOption(entry, options, table);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
}

/**
 * Throws `ERR_BASH_INVALID_ARG` for options that do not exist, and for hooks that are not functions: a hook of another
 * type would show only when it is called. `more` are the options of the entry that tools do not have.
 */
export function checkToolOptions(entry: string, options: BashToolOptions, more: OptionTable = {}): void {
  checkOptionNames(entry, options, { ...toolOptions(), ...more });
  const { perCall, run, onAccess, onBeforeRun, onAfterRun, onPrompt, terminal, spill, description, outputs } = options;
  checkFunctions(innerOf(bash), {
    perCall,
    run,
    onAccess,
    onBeforeRun,
    onAfterRun,
    onPrompt,
    'terminal.onStart': within(terminal, 'onStart'),
    'spill.allocate': within(spill, 'allocate'),
  });
  if (description !== undefined && typeof description !== 'string' && typeof description !== 'function') {
    throw innerOf(bash).invalid('description', description, 'a string or a function');
  }
  // Checked by shape, not by class: another copy of this package may have made it.
  if (outputs !== undefined && !(STORE in Object(outputs))) {
    throw innerOf(bash).invalid('outputs', outputs, 'an OutputStore');
  }
}

function within(option: unknown, name: string): unknown {
  return typeof option === 'object' && option !== null ? (option as Record<string, unknown>)[name] : undefined;
}

/** Throws `ERR_BASH_INVALID_ARG` for an unknown field of an interceptor rule. */
export function checkRuleNames(name: string, rule: object): void {
  checkOptionNames(name, rule, OF_RULES);
}

/** A path or a list of rules in the place of options would have no effect. */
function noObject(options: unknown): BashError {
  const given = Array.isArray(options)
    ? 'an array'
    : typeof options === 'string'
      ? JSON.stringify(options)
      : String(options);
  return new BashError('ERR_BASH_INVALID_ARG', `options: ${given} is not an object`);
}

/** Converts a tool's `undo` option to the `undo` option of commands. */
export function undoOption(undo: BashToolOptions['undo']): BashOptions['undo'] {
  if (typeof undo === 'boolean') return undo ? 'risky' : 'off';
  return undo;
}

/** Returns whether a tool may give stored results again, and its input offers `fresh`. */
export function offersFresh({ reuse, terminal, sandbox }: BashToolOptions): boolean {
  const places = [terminal, sandbox];
  return reuse !== undefined && reuse !== 'off' && places.every((place) => place === undefined);
}

/** Throws what `bash` would for a draft, and for options beside it that contradict it. */
export function checkDraft(options: BashToolOptions): void {
  const { draft = false, commit = 'never', undo } = options;
  if (commit !== 'ask' && commit !== 'never') throw innerOf(bash).invalid('commit', commit, "'ask' or 'never'");
  if (draft !== false) innerOf(bash).checkDraft({ ...options, draft, undo: undoOption(undo) });
}

/** Returns whether commands of a tool run in a draft, and its input offers `draft_changes`. */
export function offersDraft({ draft = false, sandbox }: BashToolOptions): boolean {
  return draft !== false && sandbox === undefined;
}

/** Returns whether commands of a tool can be undone, and its input offers `undo_run`. */
export function offersUndo({ undo, confine }: BashToolOptions): boolean {
  const { profile, write = [] } = typeof confine === 'object' ? confine : { profile: confine };
  if (profile === 'read-only' && write.length === 0) return false;
  return undo !== undefined && undo !== false && undo !== 'off';
}

/** Returns the level of an option. The run rejects a wrong value. */
export function levelOf(reduce: BashToolOptions['reduce']): Level {
  return typeof reduce === 'object' ? (reduce?.level ?? 'lossless') : (reduce ?? 'off');
}

/** Returns the option with nothing left out. */
export function withoutGaps<T extends BashToolOptions['reduce']>(reduce: T): T | 'lossless' | ReduceOptions {
  if (levelOf(reduce) !== 'salient') return reduce;
  return typeof reduce === 'object' ? { ...reduce, level: 'lossless' } : 'lossless';
}

/** Returns whether the text of a successful command that wrote only standard output is just this output. */
export function isBare(level: Level): boolean {
  return level === 'lossless' || level === 'salient';
}

/**
 * Names the option by which a server gives each of its tools the same store. It is a symbol, out of reach of callers
 * who only know the types.
 */
export const SHARED_OUTPUTS: unique symbol = internalKey('shared-outputs');

/** Options with a shared store. */
export interface Sharing {
  [SHARED_OUTPUTS]?: OutputStore;
}

/** Names the option of a call with the place of its outputs. */
export const VIEWS: unique symbol = Symbol('agent-bash.views');

/** The options of a call, with the place of its outputs. */
export interface Viewed {
  [VIEWS]?: Place;
}

/** The place for outputs whose views leave out lines. */
export interface Place {
  outputs: OutputStore;
  /** Whether the model may recall lines. */
  recalls: boolean;
  /** The level of the tool's calls, as long as `perCall` does not change it. */
  level: Level;
  /** Whether the outputs of producers are kept, unless the options of the call say otherwise. */
  taps: 'off' | 'on';
}
