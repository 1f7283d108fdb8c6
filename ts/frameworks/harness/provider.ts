import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BashError } from 'agent-bash';
import { onAbort } from '../../core/abort.ts';
import { claim, copyFiles, makeOnce, makeStaging } from '../../sandbox/folders.ts';
import { Exchange } from '../../sandbox/session/exchange.ts';
import { PrivateHome } from '../../sandbox/session/home.ts';
import type { LocalSandboxSession } from '../../sandbox/session/types.ts';
import type { Reached } from './policy.ts';
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
 * Makes a provider of sandboxes for `HarnessAgent` of `@ai-sdk/harness` 1: sessions on this machine, each in a folder
 * of its own with a private home. Commands are confined to that folder, unless `confine: 'off'` is said, and reach the
 * hosts of `networkPolicy`. The call itself starts and writes nothing.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for `cwd` and for a policy that cannot
 * be held.
 *
 * @example const agent = new HarnessAgent({ harness, sandbox: harnessSandbox({ dir: '/srv/agents' }) });
 */
export function harnessSandbox(options: HarnessSandboxOptions = {}): HarnessV1SandboxProvider {
  const { dir: given, ports, network, networkUnder, open } = settingOf(options);
  const dir = new SessionsDirectory(given);
  const sessions = new Sessions();
  const folderOf = (id: unknown) => {
    if (typeof id !== 'string' || id === '') throw invalid('sessionId is no text');
    return join(dir.path, nameOf('session', id));
  };
  const sessionIn = (folder: string, id: string, reached: Reached) => {
    const made: HarnessV1NetworkSandboxSession = networkSession({
      ...{ id, folder, ports, networkUnder },
      network: reached,
      policyFile: policyFileOf(folder),
      open: (network) => open(folder, network, ports),
      onStopped: () => sessions.release(made),
      onDestroyed: () => {
        sessions.forget(id, made);
        dir.tidy();
      },
    });
    return sessions.keep(id, made);
  };

  const createSession = async (wanted: Wanted) => {
    const { sessionId: id = randomUUID(), abortSignal, identity, onFirstCreate } = wanted;
    abortSignal?.throwIfAborted();
    const folder = folderOf(id);
    const taken = () => invalid(`there is a session "${id}" already`);
    if (existsSync(folder)) throw taken();
    await dir.make();
    const fill = (into: string) => prepare(into, (home) => open(home, network, []), onFirstCreate, abortSignal);
    if (!(await makeFolder(dir.path, folder, identity, onFirstCreate !== undefined, fill, abortSignal))) throw taken();
    try {
      return sessionIn(folder, id, network);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  };

  const resumeSession: HarnessV1SandboxProvider['resumeSession'] = async ({ sessionId: id, abortSignal }) => {
    abortSignal?.throwIfAborted();
    const folder = folderOf(id);
    if (!(await isFolder(folder))) throw invalid(`there is no session "${id}" in ${dir.path}`);
    const policy = await policyIn(folder);
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
  readonly #fixed: string;
  readonly #temporary: PrivateHome | null;
  /** How many sessions are being made. */
  #making = 0;

  constructor(given: string | undefined) {
    this.#fixed = given === undefined ? '' : resolve(given);
    this.#temporary = given === undefined ? new PrivateHome('dir') : null;
  }

  get isTemporary(): boolean {
    return this.#temporary !== null;
  }

  get path(): string {
    return this.#temporary?.path ?? this.#fixed;
  }

  async make(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    // What is in it stays as long as this process.
    this.#temporary?.keepUntil(new Promise(() => {}));
  }

  /** Keeps the directory while a session is made in it. */
  async during<T>(making: () => Promise<T>): Promise<T> {
    this.#making += 1;
    try {
      return await making();
    } finally {
      this.#making -= 1;
      this.tidy();
    }
  }

  tidy(): void {
    if (this.#making === 0) this.#temporary?.removeEmpty();
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
  folder: string,
  open: (folder: string) => LocalSandboxSession,
  onFirstCreate: Wanted['onFirstCreate'],
  abortSignal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(join(folder, HOME), { mode: 0o700 });
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

/** Makes the folder of a session in one step. Resolves with `false` if it is there already. */
async function makeFolder(
  dir: string,
  folder: string,
  identity: string | undefined,
  prepares: boolean,
  fill: (folder: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const staging = await makeStaging(dir);
  try {
    const template = join(dir, nameOf('template', identity ?? ''));
    if (identity === undefined || !(prepares || existsSync(template))) await fill(staging);
    else {
      await makeOnce(dir, template, fill, signal);
      await copyFiles(template, staging);
    }
    signal?.throwIfAborted();
    if (!(await claim(staging, folder))) return false;
    // An earlier session of this id may have left a policy.
    await rm(policyFileOf(folder), { force: true });
    return true;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Returns the name of a folder for an id, which may be any text. */
function nameOf(kind: string, id: string): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return [kind, id.replace(/[^\w-]+/g, '_').slice(0, 40), digest].join('-');
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}

/** Reads the policy that this or another process has set in a session; `null` if none was. */
async function policyIn(folder: string): Promise<HarnessV1NetworkPolicy | null> {
  const file = policyFileOf(folder);
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : null;
}

/** The file beside a session's folder, out of its reach, for the policy that was set. */
function policyFileOf(folder: string): string {
  return `${folder}.json`;
}

function invalid(message: string): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', message);
}
