import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BashError, type Target } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import { FOLDERS_HERE, type Folders, makeOnce } from '../../sandbox/folders.ts';
import { FoldersThere } from '../../sandbox/folders-there.ts';
import { Exchange } from '../../sandbox/session/exchange.ts';
import { PrivateHome } from '../../sandbox/session/home.ts';
import { HomeThere } from '../../sandbox/session/home-there.ts';
import type { DisposableSandboxSession } from '../../sandbox/session/types.ts';
import type { Reached } from './policy.ts';
import { LocalPorts, TargetPorts } from './ports.ts';
import { networkSession } from './session.ts';
import { HOME, settingOf } from './setting.ts';
import type {
  HarnessSandboxOptions,
  HarnessV1NetworkPolicy,
  HarnessV1NetworkSandboxSession,
  HarnessV1SandboxProvider,
} from './types.ts';

type Wanted = NonNullable<Parameters<HarnessV1SandboxProvider['createSession']>[0]>;

/**
 * Makes a provider of sandboxes for `HarnessAgent` of `@ai-sdk/harness` 1: sessions on this machine, or on a target,
 * each in a folder of its own with a private home. Commands are confined to that folder, unless `confine: 'off'` is
 * said, and reach the hosts of `networkPolicy`. The call itself starts and writes nothing.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for `cwd` and for a policy that cannot
 * be held.
 *
 * @example const agent = new HarnessAgent({ harness, sandbox: harnessSandbox({ dir: '/srv/agents' }) });
 */
export function harnessSandbox(options: HarnessSandboxOptions = {}): HarnessV1SandboxProvider {
  const { dir: given, target, ports, network, networkUnder, open } = settingOf(options);
  const folders = target ? new FoldersThere(target) : FOLDERS_HERE;
  const dir = new SessionsDirectory(folders, given, target);
  const sessions = new Sessions();
  const folderOf = async (id: unknown) => {
    if (typeof id !== 'string' || id === '') throw invalid('sessionId is no text');
    return join(await dir.path(), nameOf('session', id));
  };
  const sessionIn = (folder: string, id: string, reached: Reached) => {
    const made: HarnessV1NetworkSandboxSession = networkSession({
      ...{ id, folder, folders, ports, networkUnder },
      reachable: target ? new TargetPorts(target) : new LocalPorts(),
      network: reached,
      policyFile: policyFileOf(folder),
      open: (network) => open(folder, network, ports),
      onStopped: () => sessions.release(made),
      onDestroyed: () => {
        sessions.forget(id, made);
        return dir.tidy();
      },
    });
    return sessions.keep(id, made);
  };

  const createSession = async (wanted: Wanted) => {
    const { sessionId: id = randomUUID(), abortSignal, identity, onFirstCreate } = wanted;
    abortSignal?.throwIfAborted();
    const folder = await folderOf(id);
    const taken = () => invalid(`there is a session "${id}" already`);
    if (await folders.isThere(folder)) throw taken();
    await dir.make();
    const openIn = (home: string) => open(home, network, []);
    const fill = (into: string) => prepare(folders, into, openIn, onFirstCreate, abortSignal);
    const wish = { folder, identity, prepares: onFirstCreate !== undefined, fill, signal: abortSignal };
    if (!(await makeFolder(folders, await dir.path(), wish))) throw taken();
    try {
      return sessionIn(folder, id, network);
    } catch (error) {
      await folders.remove(folder);
      throw error;
    }
  };

  const resumeSession: HarnessV1SandboxProvider['resumeSession'] = async ({ sessionId: id, abortSignal }) => {
    abortSignal?.throwIfAborted();
    const folder = await folderOf(id);
    if (!(await folders.isFolder(folder))) throw invalid(`there is no session "${id}" in ${await dir.path()}`);
    const policy = await policyIn(folders, folder);
    const known = sessions.resumed(id);
    if (known && policy) await known.setNetworkPolicy?.(policy);
    if (known) return known;
    if (policy === null) return sessionIn(folder, id, network);
    if (networkUnder) return sessionIn(folder, id, networkUnder(policy, folder));
    throw new BashError('ERR_BASH_UNSUPPORTED', `the network policy of session "${id}" needs confinement`);
  };
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'agent-bash',
    createSession: (wanted = {}) => dir.during(() => createSession(wanted)),
    ...(!dir.isTemporary && { resumeSession }),
  };
}

/** The directory that has the folders of sessions. A temporary one goes when nothing is in it. */
class SessionsDirectory {
  readonly #folders: Folders;
  readonly #fixed: string;
  readonly #temporary: PrivateHome | HomeThere | null;
  /** How many sessions are being made. */
  #making = 0;

  constructor(folders: Folders, given: string | undefined, target: Target | undefined) {
    this.#folders = folders;
    this.#fixed = given === undefined ? '' : folders.absolute(given);
    const temporary = () => (target ? new HomeThere(target, 'dir') : new PrivateHome('dir'));
    this.#temporary = given === undefined ? temporary() : null;
  }

  get isTemporary(): boolean {
    return this.#temporary !== null;
  }

  async path(): Promise<string> {
    return this.#temporary?.path ?? this.#fixed;
  }

  async make(): Promise<void> {
    await this.#folders.make(await this.path());
    // What is in it stays as long as this process.
    if (this.#temporary instanceof PrivateHome) this.#temporary.keepUntil(new Promise(() => {}));
  }

  /** Keeps the directory while a session is made in it. */
  async during<T>(making: () => Promise<T>): Promise<T> {
    this.#making += 1;
    try {
      return await making();
    } finally {
      this.#making -= 1;
      await this.tidy();
    }
  }

  async tidy(): Promise<void> {
    if (this.#making === 0) await this.#temporary?.removeEmpty();
  }
}

/** The sessions of this process by their id. One that was stopped is found as long as the host still has it. */
class Sessions {
  readonly #known = new Map<string, WeakRef<HarnessV1NetworkSandboxSession>>();
  /** Those in which something may run. */
  readonly #kept = new Set<HarnessV1NetworkSandboxSession>();
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#find(id) === undefined) this.#known.delete(id);
  });

  keep(id: string, session: HarnessV1NetworkSandboxSession): HarnessV1NetworkSandboxSession {
    this.#known.set(id, new WeakRef(session));
    this.#collected.register(session, id);
    this.#kept.add(session);
    return session;
  }

  resumed(id: string): HarnessV1NetworkSandboxSession | undefined {
    const session = this.#find(id);
    if (session) this.#kept.add(session);
    return session;
  }

  release(session: HarnessV1NetworkSandboxSession): void {
    this.#kept.delete(session);
  }

  forget(id: string, session: HarnessV1NetworkSandboxSession): void {
    this.release(session);
    if (this.#find(id) === session) this.#known.delete(id);
  }

  #find(id: string): HarnessV1NetworkSandboxSession | undefined {
    return this.#known.get(id)?.deref();
  }
}

/** Makes the home in a folder, and lets `onFirstCreate` do the rest. Nothing that it started goes on. */
async function prepare(
  folders: Folders,
  folder: string,
  open: (folder: string) => DisposableSandboxSession,
  onFirstCreate: Wanted['onFirstCreate'],
  abortSignal: AbortSignal | undefined,
): Promise<void> {
  await folders.makeNew(join(folder, HOME));
  if (!onFirstCreate) return;
  const first = new Exchange(open(folder));
  let forget: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = abortSignal && onAbort(abortSignal, () => reject(abortSignal.reason));
  });
  try {
    await Promise.race([onFirstCreate(first.face, abortSignal ? { abortSignal } : {}), aborted]);
  } finally {
    forget?.();
    await first.end();
    first.close(new BashError('ERR_BASH_CLOSED', 'the session of onFirstCreate is over'));
  }
  abortSignal?.throwIfAborted();
}

/** A folder to make for a session. */
interface Wish {
  folder: string;
  identity: string | undefined;
  /** Whether `fill` does more than to make the home. */
  prepares: boolean;
  fill(folder: string): Promise<void>;
  signal: AbortSignal | undefined;
}

/** Makes the folder of a session in one step. Resolves with `false` if it is there already. */
async function makeFolder(
  folders: Folders,
  dir: string,
  { folder, identity, prepares, fill, signal }: Wish,
): Promise<boolean> {
  const staging = await folders.makeStaging(dir);
  try {
    const template = join(dir, nameOf('template', identity ?? ''));
    if (identity === undefined || !(prepares || (await folders.isThere(template)))) await fill(staging);
    else {
      await makeOnce(folders, dir, template, fill, signal);
      await folders.copy(template, staging);
    }
    signal?.throwIfAborted();
    if (!(await folders.claim(staging, folder))) return false;
    // An earlier session of this id may have left a policy.
    await folders.remove(policyFileOf(folder));
    return true;
  } finally {
    await folders.remove(staging);
  }
}

/** Returns the name of a folder for an id, which may be any text. */
function nameOf(kind: string, id: string): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return [kind, id.replace(/[^\w-]+/g, '_').slice(0, 40), digest].join('-');
}

/** Reads the policy that this or another process has set in a session; `null` if none was. */
async function policyIn(folders: Folders, folder: string): Promise<HarnessV1NetworkPolicy | null> {
  const text = await folders.read(policyFileOf(folder));
  return text === null ? null : JSON.parse(text);
}

/** The file beside a session's folder, out of its reach, for the policy that was set. */
function policyFileOf(folder: string): string {
  return `${folder}.json`;
}

function invalid(message: string): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', message);
}
