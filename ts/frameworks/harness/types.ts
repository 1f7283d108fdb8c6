import type { BashOptions, Target } from 'agent-bash';
import type { SandboxSession } from '../../sandbox/session/types.ts';

/** Options of `harnessSandbox`. Those of `bash()` apply to each command, but `cwd` is the session's folder. */
export type HarnessSandboxOptions = Omit<BashOptions, 'target' | 'affinity'> & {
  /**
   * The machine that has the sessions: a target of `connect`. `dir` is then a path there, and ports are forwarded.
   *
   * @default this machine
   * @example harnessSandbox({ target: await connect({ ssh: 'build1' }), dir: 'agents' });
   */
  target?: Target | undefined;
  /**
   * The directory that has the folders of sessions. Other processes find them there again.
   *
   * @default a temporary directory, which goes with this process; its sessions cannot be resumed. On a target it goes
   * with its last session
   * @example harnessSandbox({ dir: '/srv/agents' });
   */
  dir?: string | undefined;
  /**
   * TCP ports at which servers of a session are reached from this machine, in addition to those of `confine.expose`.
   *
   * @default []
   * @example harnessSandbox({ ports: [4100] });
   */
  ports?: number[] | undefined;
  /**
   * The hosts that sessions reach until their `setNetworkPolicy` is called.
   *
   * @default `confine.network` if that is given, else `{ mode: 'allow-all' }`
   * @example harnessSandbox({ networkPolicy: { mode: 'custom', allowedHosts: ['registry.npmjs.org'] } });
   */
  networkPolicy?: HarnessV1NetworkPolicy | undefined;
};

/**
 * The hosts that commands reach. Entries are those of `confine.network.allow`: without a port they open 80 and 443.
 * `deniedCIDRs` win over both lists, and must be private, loopback or link-local.
 */
export type HarnessV1NetworkPolicy =
  | { mode: 'allow-all' | 'deny-all' }
  | ({ mode: 'custom'; deniedCIDRs?: readonly string[] } & (
      | { allowedHosts: readonly string[]; allowedCIDRs?: readonly string[] }
      | { allowedHosts?: readonly string[]; allowedCIDRs: readonly string[] }
    ));

/** A server of a session. */
interface Endpoint {
  /** One of the declared ports. */
  port: number;
  /** @default 'http' */
  protocol?: 'http' | 'https' | 'ws';
}

/** A session with its folder, its ports, its policy and its end. */
export interface HarnessV1NetworkSandboxSession extends SandboxSession {
  readonly id: string;
  /** The session's folder, absolute, on its machine. */
  readonly defaultWorkingDirectory: string;
  readonly ports: readonly number[];
  /** Resolves with the address of a declared port, at 127.0.0.1. Rejects with `ERR_BASH_INVALID_ARG` for others. */
  readonly getPortEndpoint: (options: Endpoint) => Promise<{ url: string }>;
  /** Resolves with `url` of `getPortEndpoint`. */
  readonly getPortUrl: (options: Endpoint) => Promise<string>;
  /** Ends all that runs and keeps the files. May be repeated. A later command starts anew. */
  readonly stop: () => Promise<void>;
  /** Ends all that runs and removes the folder. May be repeated. Later commands reject with `ERR_BASH_CLOSED`. */
  readonly destroy: () => Promise<void>;
  /**
   * Sets the hosts that all later commands reach, also after a resume. Ends all that runs, unless it is the same
   * policy. Absent with `confine: 'off'`. Rejects, with the old policy in force, with `ERR_BASH_UNSUPPORTED` for what
   * cannot be held and with the pids that could not be ended, and with `ERR_BASH_CONFINEMENT` for an invalid entry.
   */
  readonly setNetworkPolicy?: (policy: HarnessV1NetworkPolicy) => Promise<void>;
  /** Returns the session without all of these members. */
  readonly restricted: () => SandboxSession;
}

/** Makes the sessions of `HarnessAgent`. */
export interface HarnessV1SandboxProvider {
  readonly specificationVersion: 'harness-sandbox-v1';
  readonly providerId: string;
  /**
   * Makes a session. `onFirstCreate` runs once for each `identity`, and each session of that identity starts with a
   * copy of its files. Rejects with `ERR_BASH_INVALID_ARG` for an id that is taken, and leaves nothing if it rejects.
   */
  readonly createSession: (options?: {
    sessionId?: string;
    abortSignal?: AbortSignal;
    identity?: string;
    onFirstCreate?: (session: SandboxSession, options: { abortSignal?: AbortSignal }) => Promise<void>;
  }) => Promise<HarnessV1NetworkSandboxSession>;
  /**
   * Finds a session again that this or another process has made. Absent without `dir`. Rejects with
   * `ERR_BASH_INVALID_ARG` if there is none with this id.
   */
  readonly resumeSession?: (options: {
    sessionId: string;
    abortSignal?: AbortSignal;
  }) => Promise<HarnessV1NetworkSandboxSession>;
}
