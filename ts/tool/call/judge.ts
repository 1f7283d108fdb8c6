import { resolve } from 'node:path';
import { type AnalyzeOptions, analyze, BashError, type BashOptions, bash, type SafetyOptions } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { messageOf } from '../core/listener.ts';
import { type Access, OWNER, type Owned, REACH, type Reach } from '../core/world.ts';
import { callFolder, runOptions, toolFolder } from './call-plan.ts';
import { checkOptionNames, innerOptions } from './options.ts';
import { sandboxOf, sessionOf } from './place.ts';
import type { AccessRequest, BashToolAccess, BashToolError, BashToolOptions } from './types.ts';

/** The exit code of a command that did not run, as shells have it for a program that cannot be run. */
export const NOT_RUN = 126;

/** What a model reads of a command that needs the consent of a person, where none can be asked. */
const CONSENT =
  'A person has to consent to this, and nobody can be asked here: nothing was run. The host can ask people ' +
  "(createToolApproval), or let such commands run (safety: { onAsk: 'allow' })";

/**
 * Returns an error in the form that the model reads. A foreign code (`ENOENT`) says nothing about the run and is
 * replaced.
 */
export function nothingRan(error: unknown, code: string): BashToolError {
  const { code: own, findings, missing } = Object(error) as Partial<BashError>;
  const asks = Array.isArray(findings) && findings[0]?.level === 'ask';
  return {
    error: asks ? `${messageOf(error)}. ${CONSENT}` : messageOf(error),
    code: typeof own === 'string' && own.startsWith('ERR_BASH_') ? own : code,
    ...(Array.isArray(findings) && { findings }),
    ...(Array.isArray(missing) && { missing }),
  };
}

/** The options that a judgement depends on. */
type Judged = Pick<BashOptions, 'cwd' | 'env' | 'inheritEnv' | 'safety' | 'target'>;

/** Returns the options with which the safety engine judges a command as `bash()` does. */
export function analyzeOptions({ cwd, env, inheritEnv, safety, target }: Judged): AnalyzeOptions {
  const { rules, wrappers } = typeof safety === 'object' ? safety : {};
  const home = target?.info?.home;
  // The login environment of a target is judged when the command runs.
  return { cwd, env: seen(env, home === undefined ? inheritEnv : 'none'), home, rules, wrappers };
}

/** Returns the text that the shell runs, which is also the text to judge. */
export function judgedText(command: string, { prefix }: Pick<BashOptions, 'prefix'>): string {
  return prefix ? `${prefix} ${command}` : command;
}

/**
 * Returns the variables that a command sees, except for withheld secrets and added defaults. `undefined` stands for
 * `process.env`.
 */
function seen(env: BashOptions['env'], inheritEnv: BashOptions['inheritEnv']): AnalyzeOptions['env'] {
  const names = Array.isArray(inheritEnv) ? inheritEnv : inheritEnv === 'none' ? [] : null;
  if (env === undefined && names === null) return undefined;
  const inherited = names === null ? process.env : Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return {
    ...inherited,
    ...Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, value ?? undefined])),
  };
}

/** The rules whose commands are refused where nobody can be asked, and asked about where a person can. */
export const ASKED_RULES: NonNullable<SafetyOptions['rules']> = { 'git-blind-add': 'ask' };

/**
 * Returns the options for a call that a person has approved: a command that would be asked about runs. A denied command
 * stays denied.
 */
export function approvedOptions(options: BashToolOptions): BashToolOptions {
  const { safety = 'default' } = options;
  if (safety === 'off') return options;
  const given = safety === 'default' ? {} : safety;
  return { ...options, safety: { ...given, rules: { ...ASKED_RULES, ...given.rules }, onAsk: 'allow' } };
}

/**
 * Returns the options for a call that no approval has decided about: a command that a person would be asked about is
 * refused, unless the host says otherwise.
 */
export function unattended<T extends Pick<BashOptions, 'safety'>>(options: T): T {
  const { safety = 'default' } = options;
  if (safety === 'default') return { ...options, safety: { onAsk: 'deny' } };
  if (typeof safety !== 'object' || safety === null) return options;
  return { ...options, safety: { ...safety, onAsk: safety.onAsk ?? 'deny' } };
}

/**
 * Judges a command that something other than `bash()` will run. Throws `ERR_BASH_BLOCKED` for a refused command.
 * Returns the notes of a command that runs.
 */
export function judge(command: string, options: BashOptions): string[] {
  const { safety = 'default' } = options;
  checkSafety(safety);
  if (safety === 'off') return [];
  const judged: AnalyzeOptions & { [REACH]?: Reach } = analyzeOptions(options);
  // Nobody has to be asked about what the confinement prevents.
  const reach = options.target ? null : innerOf(bash).reachOf(options, resolve(options.cwd ?? '.'));
  if (reach !== null) judged[REACH] = reach;
  const { verdict, findings } = analyze(judgedText(command, options), judged);
  const isRefused = verdict === 'deny' || (verdict === 'ask' && typeof safety === 'object' && safety.onAsk === 'deny');
  if (isRefused) throw new BashError('ERR_BASH_BLOCKED', findings[0]?.message ?? verdict, undefined, findings);
  return findings.map(({ level, message, ruleId }) => `${level === 'ask' ? ASKS : 'warning'}: ${message} (${ruleId})`);
}

/** A mistyped name must not leave a rule unchanged. `analyze` checks the values. */
function checkSafety(safety: unknown): void {
  if (safety === 'default' || safety === 'off') return;
  if (typeof safety !== 'object' || safety === null) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'safety: it is not one of default, off, or an object of options');
  }
  checkOptionNames('safety', safety, innerOptions().bash.safety?.fields);
}

/** The start of a note about a command that a person would be asked about. The core writes the same words. */
const ASKS = 'a person would be asked about this';

/** Removes the notes that an approval has settled. */
export function approvedNotes(notes: string[]): string[] {
  return notes.filter((note) => !note.startsWith(`${ASKS}: `));
}

/** The part of a tool's input that access is about. */
interface Asked {
  cwd?: string | null | undefined;
  access?: BashToolAccess | null | undefined;
}

/** The access granted for good, by the place that it was granted in. */
type Grants = Map<string, Access>;

/** The grants of each tool or session. Copies of an owner with another root share its `end`. */
const granted = new WeakMap<object, Grants>();

/**
 * Returns the options of a call with its access, once the host has granted what the model asks for. Throws
 * `ERR_BASH_CONFINEMENT` for access that is refused or cannot be granted.
 */
export async function withAccess(
  options: BashToolOptions,
  command: string,
  input: Asked,
  toolCallId: string,
): Promise<BashToolOptions> {
  if (sandboxOf(options) !== undefined) {
    if (input.access == null || options.onAccess === undefined) return options;
    throw new BashError('ERR_BASH_UNSUPPORTED', 'in a sandbox there is no access to ask for: nothing was run');
  }
  if (options.target && input.access != null && options.onAccess !== undefined) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'on a target there is no access to ask for: nothing was run');
  }
  const held = withGrants(options);
  const { access } = input;
  if (access == null || options.onAccess === undefined) return held;
  const start = sessionOf(held)?.cwd ?? toolFolder(held);
  const cwd = callFolder(start, input.cwd);
  const { write, network } = access;
  const asked = innerOf(bash).checkAccess(held, cwd, { write: write ?? [], network: network ?? [] });
  if (asked.write.length + asked.network.length === 0) return held;
  // A command that would be refused anyway is no matter for the host.
  judge(command, { ...runOptions(held), cwd });
  const answer = await ask(options.onAccess, { command, cwd, toolCallId, ...asked, reason: access.reason });
  if (answer === 'session') remember(options, asked);
  return { ...held, confine: enlarged(held.confine, asked) };
}

async function ask(
  onAccess: NonNullable<BashToolOptions['onAccess']>,
  request: AccessRequest,
): Promise<true | 'session'> {
  let answer: unknown;
  try {
    answer = await onAccess(structuredClone(request));
  } catch (error) {
    throw refused(`the host could not be asked for this access (${messageOf(error)})`);
  }
  if (answer === true || answer === 'session') return answer;
  throw refused('the host has refused this access');
}

function refused(why: string): BashError {
  return new BashError(
    'ERR_BASH_CONFINEMENT',
    `${why}: nothing was run. Do the task without it, or tell the user what it needs and why`,
  );
}

/** Returns the options with the access that the host has granted for good. */
export function withGrants<T extends BashToolOptions>(options: T): T {
  const known = grantsOf(options)?.get(placeOf(options));
  return known === undefined ? options : { ...options, confine: enlarged(options.confine, known) };
}

function remember(options: BashToolOptions, access: Access): void {
  const grants = grantsOf(options);
  const place = placeOf(options);
  const before = grants?.get(place) ?? { write: [], network: [] };
  grants?.set(place, {
    write: [...before.write, ...access.write],
    network: [...before.network, ...access.network],
  });
}

function grantsOf(options: BashToolOptions & Owned): Grants | undefined {
  const owner = options[OWNER];
  if (owner === undefined) return undefined;
  const known = granted.get(owner.end);
  if (known !== undefined) return known;
  const made: Grants = new Map();
  granted.set(owner.end, made);
  return made;
}

/**
 * Returns a key for the place of a call. A tool may serve many users, each with a directory and a confinement of their
 * own.
 */
function placeOf(options: BashToolOptions & Owned): string {
  return JSON.stringify([options[OWNER]?.root, options.confine]);
}

/** Returns a confinement that allows more. */
function enlarged(confine: BashOptions['confine'], { write, network }: Access): BashOptions['confine'] {
  if (confine === undefined || confine === 'off') return confine;
  const given = typeof confine === 'string' ? { profile: confine } : confine;
  const before = typeof given.network === 'object' ? given.network : { allow: [] };
  return {
    ...given,
    write: [...(given.write ?? []), ...write],
    ...(network.length > 0 && { network: { ...before, allow: [...before.allow, ...network] } }),
  };
}
