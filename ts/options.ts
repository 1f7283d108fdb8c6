import { CONFINE } from './confine/options.ts';
import { ruleIds } from './core/answers.ts';
import {
  type Check,
  type Checks,
  checkFields,
  checkRanges,
  fields,
  invalid,
  isSignal,
  oneOf,
  record,
  strings,
  type,
  wordOr,
  wordsByName,
} from './core/checks.ts';
import { hintOf, unknownOption } from './core/option-names.ts';
import { DRAFT } from './draft/handle.ts';
import { checkOpenDraft } from './draft/options.ts';
import { BashError } from './errors.ts';
import { AFFINITY, PLACE, placeName } from './fleet/handle.ts';
import { REDUCE } from './reduce/options.ts';
import { handleOf } from './registry/handle.ts';
import type { AnalyzeOptions, DecideRules, SafetyOptions } from './safety/types.ts';
import { NATIVE_CHECKS } from './schema/checks.ts';
import type { NativeOptions } from './schema/types.ts';
import type { CommandOptions } from './types.ts';

const LEVELS = wordsByName('off', 'warn', 'ask', 'deny');

const SAFETY: Checks<SafetyOptions> = {
  rules: (value, name) => {
    LEVELS(value, name);
    const known = new Set(ruleIds());
    const id = Object.keys(value as object).find((id) => !known.has(id));
    if (id === undefined) return;
    throw new BashError('ERR_BASH_INVALID_ARG', `${name}: there is no rule "${id}"${hintOf(id, [...known])}`);
  },
  wrappers: wordsByName('exec-rest', 'shell-string', 'stdin-script', 'per-item'),
  onAsk: oneOf('allow', 'deny'),
};

/** The checks of the options that do not cross to the addon as they are. */
const OWN: Checks<Omit<CommandOptions, keyof NativeOptions>> = {
  target: PLACE,
  draft: DRAFT,
  affinity: AFFINITY,
  cwd: (value, name) => {
    const hint = value instanceof URL ? 'use fileURLToPath(url)' : '';
    if (typeof value !== 'string' || value === '') throw invalid(name, value, 'the path of a directory', hint);
  },
  env: (value, name) => {
    record(value, name);
    for (const [key, item] of Object.entries(value as object)) {
      if (item !== null && item !== undefined && typeof item !== 'string') {
        // The value may be a secret that only has the wrong type.
        throw new BashError(
          'ERR_BASH_INVALID_ARG',
          `env.${key} is a ${typeof item}; it must be a string, null or undefined`,
        );
      }
    }
  },
  signal: isSignal,
  stdin: (value, name) => {
    if (typeof value === 'string' || value instanceof Uint8Array) return;
    const hint = isStream(value) ? "read the stream first, as `text` of 'node:stream/consumers' does" : '';
    throw invalid(name, value, 'a string or a Uint8Array', hint);
  },
  onOutput: type('function'),
  onSnapshot: type('function'),
  onPrompt: type('function'),
  registry: (value, name) => {
    const handle = handleOf(value);
    if (!handle) throw invalid(name, value, 'a BackgroundRegistry of this package');
    if (handle.closed) throw new BashError('ERR_BASH_CLOSED', 'registry: it is closed');
  },
  safety: wordOr(['default', 'off'], fields<SafetyOptions>(SAFETY)),
  prefix: (value, name) => {
    if (typeof value !== 'string' || value.includes('\0'))
      throw invalid(name, value, 'a string without a NUL character');
  },
  confine: CONFINE,
  knownFiles: (value, name) => {
    const isList = typeof value === 'object' && value !== null && Symbol.iterator in value;
    if (!isList && typeof value !== 'function')
      throw invalid(name, value, 'an iterable of absolute paths or a function');
  },
  reduce: REDUCE,
};

/** The check of each option of `bash()`. The addon checks the ranges. */
const BASH: Checks<CommandOptions> = { ...NATIVE_CHECKS, ...OWN };

const ANALYZE: Checks<AnalyzeOptions> = { ...SAFETY, cwd: BASH.cwd, env: BASH.env, home: type('string') };

const RULES: Checks<DecideRules> = { allow: strings, ask: strings, deny: strings };

/** The names of the options that are defined here, for the other entries of this package. */
export const OPTION_TABLES = { bash: BASH, analyze: ANALYZE } as const;

const ARGUMENTS = 'write the arguments into the command, or name them in `args` and write "$1"';

function checkCommand(command: unknown): asserts command is string {
  if (typeof command === 'string') return;
  const isTemplate = Array.isArray(command) && 'raw' in command;
  const hint = isTemplate ? "this is a function and no tag: call bash('ls')" : ARGUMENTS;
  throw invalid('command', command, 'a string', Array.isArray(command) ? hint : '');
}

/** Returns whether a value is a stream of Node or of the web. */
function isStream(value: unknown): boolean {
  const stream = value as { pipe?: unknown; getReader?: unknown } | null;
  return typeof stream === 'object' && stream !== null && ('pipe' in stream || 'getReader' in stream);
}

/**
 * Checks a command, and checks its options before they are used. `more`: options of the entry that `bash()` does not
 * have.
 */
export function checkOptions(
  entry: string,
  command: unknown,
  options: unknown,
  more?: Readonly<Record<string, Check>>,
): asserts options is CommandOptions {
  checkCommand(command);
  if (Array.isArray(options)) throw invalid('options', options, 'an object', ARGUMENTS);
  record(options, 'options');
  const checks: Readonly<Record<string, Check>> = more ? { ...BASH, ...more } : BASH;
  const unknown = unknownOption(entry, options as object, checks);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
  const given = options as Record<string, unknown>;
  for (const name in given) {
    const value = given[name];
    if (value !== undefined) checks[name]?.(value, name);
  }
}

/** Checks what depends on the machine that runs the command. Its options were checked. */
export function checkPlace(options: CommandOptions): void {
  const { target, registry, affinity, spill } = options;
  if (options.draft) checkInDraft(options);
  if (registry !== undefined && handleOf(registry)?.target !== target) {
    const problem = `registry: its tasks run on ${placeName(handleOf(registry)?.target)}, and the command on ${placeName(target)}`;
    throw new BashError('ERR_BASH_INVALID_ARG', `${problem}; give both the same target`);
  }
  const known = handleOf(registry)?.affinity;
  if (affinity !== undefined && known !== undefined && known !== affinity) {
    const problem = `affinity: ${JSON.stringify(affinity)} is not that of the registry`;
    throw new BashError('ERR_BASH_INVALID_ARG', `${problem}, whose tasks would be elsewhere; give both the same one`);
  }
  if (target && typeof spill === 'object' && spill.allocate) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'spill.allocate: whole outputs of a target are files there');
  }
}

/**
 * Checks the options of a tool whose commands run in a draft. `true`: one that the tool opens itself, with its
 * `confine`, unless a session has one.
 */
export function checkDraft({ draft, ...options }: ToolInDraft): void {
  if (draft !== true) DRAFT(draft, 'draft');
  const { confine, session, ...others } = options;
  const isOfDraft = draft === true && session === undefined && confine !== 'off';
  if (isOfDraft) checkOpenDraft({ confine });
  checkInDraft(isOfDraft ? others : options);
}

type ToolInDraft = Omit<CommandOptions, 'draft'> & { draft?: unknown; session?: unknown };

/** Checks the options of a command in a draft, which has its own confinement and is its own undo. */
function checkInDraft({ confine, undo, target, reuse, evidence }: CommandOptions): void {
  for (const [name, value] of Object.entries({ confine, undo, target })) {
    if (value !== undefined && value !== 'off') {
      const problem = `${name}: a command in a draft has none of its own`;
      throw new BashError('ERR_BASH_INVALID_ARG', `${problem}; leave it out`);
    }
  }
  const unseen = { reuse: reuse ?? 'off', evidence: evidence === 'tree' ? evidence : 'off' };
  for (const [name, value] of Object.entries(unseen)) {
    if (value === 'off') continue;
    throw new BashError('ERR_BASH_UNSUPPORTED', `${name}: the tree of a draft is not watched; see Draft.changes`);
  }
}

/**
 * Checks a command and its options for something else than the core that runs it: the ranges, too, in the core's own
 * words.
 */
export function checkElsewhere(command: unknown, options: unknown): void {
  checkOptions('bash', command, options);
  if ((command as string).includes('\0')) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'the command holds a NUL character, which no shell can be given');
  }
  checkRanges(options, NATIVE_CHECKS);
}

/** Checks what `analyze` is called with. */
export function checkAnalyze(command: unknown, options: unknown): asserts options is AnalyzeOptions {
  checkCommand(command);
  checkFields<AnalyzeOptions>('analyze', options, ANALYZE);
}

/** Checks what `decide` is called with. Whether a rule can match anything is checked by the addon. */
export function checkDecide(analysis: unknown, rules: unknown): asserts rules is DecideRules {
  record(analysis, 'analysis');
  checkFields<DecideRules>('decide', rules, RULES, 'rules');
}
