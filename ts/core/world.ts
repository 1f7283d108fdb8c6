import { internalKey } from './internal.ts';

/**
 * Names the option of `bash` by which a tool, a session, a registry or a sandbox owns the worlds of its confined
 * commands.
 *
 * A tool, session, registry or sandbox makes one owner, `innerOf(bash).newOwner(cwd)` (in the main entry `newOwner` of
 * `ts/confine/owner.ts`), with the directory that it was itself made with, and begins its world. It then adds
 * `[OWNER]: owner` to the options of each command, whether the command is confined or not. A spread copies the option
 * as it copies others; `Object.entries` leaves it out. Commands of one owner with equal `confine` share a world.
 * Without the option a command belongs to the host, and its own `cwd` is the root.
 */
export const OWNER: unique symbol = internalKey('owner');

/** More than a confinement allows. */
export interface Access {
  /** Files and directories to change. */
  write: string[];
  /** Hosts to reach, as in `confine.network.allow`. */
  network: string[];
}

/**
 * Names the option of `analyze` by which an approval passes the reach that a confinement leaves.
 */
export const REACH: unique symbol = internalKey('reach');

/** The reach that a confinement leaves. */
export interface Reach {
  /** The places that can be changed, absolute. */
  write: string[];
  /** Whether no host can be reached. */
  offline: boolean;
  /** Whether no process, device or service of the machine can be reached. */
  alone: boolean;
}

/** Where a secret works, and by what commands use it. */
export interface SecretReach {
  hosts: readonly string[];
  /** The file in which they find it, in place of a variable. */
  file?: string | undefined;
  /** Whether they see nothing of it. */
  inject?: boolean | undefined;
}

/** Options, or a session, with an owner. */
export interface Owned {
  [OWNER]?: Owner;
}

/** The owner of worlds. An owner that is collected has ended. */
export interface Owner {
  /** A number that no other owner of this process has, at least 1. */
  readonly number: number;
  /** Whether the owner is a registry, which joins the worlds of the running tasks in its directory. */
  readonly joins?: boolean;
  /** The root of its commands' `confine`, an absolute path, whatever their `cwd` is. */
  readonly root: string;
  /**
   * Begins the world of commands with these options of `bash` in the background, with a warm shell, so that the first
   * one need not wait for it. Without `confine` nothing begins. Never throws: what cannot be made is the error of that
   * command.
   */
  begin(options: object): void;
  /**
   * Ends the owner's worlds: the processes that commands have left there, and their temporary files. Tasks that outlive
   * this process keep their worlds. May be called again.
   */
  end(): void;
}
