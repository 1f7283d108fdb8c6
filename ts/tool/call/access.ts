import { BashError, type BashOptions, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { type Access, OWNER, type Owned } from '../../core/world.ts';
import { executorOf, isSandboxed } from '../executor.ts';
import { callFolder, runOptions, toolFolder } from '../setup.ts';
import type { AccessRequest, BashToolAccess, BashToolOptions } from '../types.ts';
import { judge } from './judge.ts';

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
  if (isSandboxed(options)) {
    if (input.access == null || options.onAccess === undefined) return options;
    throw new BashError('ERR_BASH_UNSUPPORTED', 'in a sandbox there is no access to ask for: nothing was run');
  }
  const there = options.target ? 'on a target' : options.draft ? 'in a draft' : null;
  if (there !== null && input.access != null && options.onAccess !== undefined) {
    throw new BashError('ERR_BASH_UNSUPPORTED', `${there} there is no access to ask for: nothing was run`);
  }
  const held = withGrants(options);
  const { access } = input;
  if (access == null || options.onAccess === undefined) return held;
  const executor = executorOf(held);
  const start = executor.kind === 'session' ? executor.session.cwd : toolFolder(held);
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
