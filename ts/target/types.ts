/** A container, by its name or id. */
export interface ContainerAddress {
  /** The name or id of the container. */
  container: string;
  /** The user; without it, that of the container. */
  user?: string | undefined;
  /** The client with its first arguments, in place of `docker` or `podman`. */
  program?: string[] | undefined;
}

/** A machine with an ssh server. */
export interface SshAddress {
  /** The host, as ssh takes it: a name of its config, `USER@HOST`, `ssh://USER@HOST:PORT`. */
  host: string;
  /** The user; without it, as ssh finds it. */
  user?: string | undefined;
  /** The port; without it, as ssh finds it. */
  port?: number | undefined;
  /** The file with the config, for `-F`. */
  config?: string | undefined;
  /** Further arguments of ssh, before the host. */
  args?: string[] | undefined;
  /** The client with its first arguments, in place of `ssh`. */
  program?: string[] | undefined;
}

/** A container of a pod. */
export interface PodAddress {
  /** The pod. */
  pod: string;
  /** The namespace; without it, that of the context. */
  namespace?: string | undefined;
  /** The container; without it, as kubectl finds it. */
  container?: string | undefined;
  /** The context; without it, the current one. */
  context?: string | undefined;
  /**
   * The uid of the pod, which is checked before each connection: a pod that is gone, or another one of the same name,
   * is `ERR_BASH_TARGET` with the reason `lost`. Without it, any pod of the name is taken.
   */
  uid?: string | undefined;
  /** The client with its first arguments, in place of `kubectl`. */
  program?: string[] | undefined;
}

/** The address of a target. It has exactly one of `ssh`, `docker`, `podman`, `kubernetes` and `command`. */
export type TargetAddress =
  | { ssh: string | SshAddress }
  | { docker: string | ContainerAddress }
  | { podman: string | ContainerAddress }
  | { kubernetes: PodAddress }
  | {
      /** Any program that passes its standard streams to a shell there, with its arguments. */
      command: string[];
      /**
       * How our text is appended: `'argv'` (default) as `/bin/sh`, `-c` and the text, as nsenter and srun want it, or
       * `'shell'` as one line for a login shell, as `tsh ssh` wants it.
       */
      quoting?: 'argv' | 'shell' | undefined;
    };

/** Options of `connect`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface ConnectOptions {
  /**
   * The name of the target in results, in place of `id`.
   *
   * @default the kind and the address: `'ssh:dev@build1'`
   * @example await connect({ ssh: 'dev@build1', name: 'build' });
   */
  name?: string | undefined;
  /**
   * The directory there in which commands start and relative paths begin. A relative path begins at the home.
   *
   * @default the home there
   * @example await connect({ ssh: 'build1', cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * Variables of all commands there, under the `env` of each call. `null` removes one.
   *
   * @default {}
   * @example await connect({ ssh: 'build1', env: { CI: '1' } });
   */
  env?: Record<string, string | null | undefined> | undefined;
  /**
   * The lease: how long work goes on there without a link, in ms, a whole number from 0 to 86,400,000. With 0 all ends
   * with the link.
   *
   * @default 120_000
   * @example await connect({ ssh: 'build1', detachMs: 600_000 });
   */
  detachMs?: number | undefined;
  /**
   * The silence that counts as a cut, in ms, a whole number from 1,000 to 300,000. Each third of it, both sides send a
   * heartbeat.
   *
   * @default 30_000
   * @example await connect({ ssh: 'build1', aliveMs: 10_000 });
   */
  aliveMs?: number | undefined;
  /**
   * The longest time of an attempt to connect, in ms, a whole number from 1,000 to 600,000.
   *
   * @default 30_000
   * @example await connect({ ssh: 'build1', connectTimeoutMs: 60_000 });
   */
  connectTimeoutMs?: number | undefined;
  /**
   * The target whose host program starts the transport: a container of a machine that is reached by ssh, or a pod
   * behind a bastion. A cut of either link is a cut. Once `via` is closed, this target is lost.
   *
   * @default this machine starts it
   * @example await connect({ docker: 'web', via: await connect({ ssh: 'build1' }) });
   */
  via?: Target | undefined;
  /**
   * The absolute path there of a host program that is installed, as in an image. Nothing is sent then.
   *
   * @default the program is searched for, and sent if it is not there
   * @example await connect({ docker: 'web', hostProgram: '/opt/agent-bash-host' });
   */
  hostProgram?: string | undefined;
  /**
   * Ends the attempt to connect when it is aborted, which then rejects with `ABORT_ERR`.
   *
   * @default none
   * @example await connect({ ssh: 'build1', signal: AbortSignal.timeout(5_000) });
   */
  signal?: AbortSignal | undefined;
}

/** The kind of a file of a target; `'other'` is a device, a pipe or a socket. */
export type FileKind = 'file' | 'directory' | 'link' | 'other';

/** A file of a target. A link is not followed. */
export interface FileStat {
  /** The kind. */
  kind: FileKind;
  /** The length. */
  bytes: number;
  /** The bits of its permissions. */
  mode: number;
  /** The time of the last change of its content, Unix time in ms. */
  modifiedAt: number;
}

/** A change of the state of a target. */
export interface TargetEvent {
  /** The name of the target. */
  target: string;
  /** Unix time in ms. */
  at: number;
  /** Why the link is cut, or the target lost; `''` for `'reconnected'`. */
  reason: string;
  /** How long there was no link, in ms; `null`: there was one. */
  downMs: number | null;
  /** The `runId`s of the commands that are lost. */
  lost: string[];
}

/** Receives the events of a target. */
export type TargetListener = (event: TargetEvent) => void;

/** Whether commands can run: a target that is lost connects anew with the next call. */
export type TargetState = 'connected' | 'disconnected' | 'lost' | 'closed';

/** A port of a target that is a port of this machine. */
export interface ForwardedPort {
  /** The port on 127.0.0.1 of this machine. */
  port: number;
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** Closes the port and its connections. May be called again. */
  close(): Promise<void>;
}

/** A host program, there. */
export interface TargetInfo {
  /** Names the machine or container. */
  machine: string;
  /** The name of the host. */
  hostName: string;
  /** The system. */
  platform: 'linux';
  /** The processor. */
  arch: 'x64' | 'arm64';
  /** The release of the kernel. */
  kernel: string;
  /** The user that runs the commands. */
  user: string;
  /** The number of that user. */
  uid: number;
  /** The home directory. */
  home: string;
  /** The directory in which commands start. */
  cwd: string;
  /** Process id of the host program. */
  pid: number;
  /** The path of bash; `null`: there is none. */
  bash: string | null;
  /** Whether processes outlive a link; `null`: that is not known. If not, a cut loses what runs. */
  lingers: boolean | null;
  /** Time of one question with its answer at the connection, in ms. */
  rttMs: number;
  /** The host program: its file there, its SHA-256, its version, and whether it was sent at the connection. */
  program: { path: string; sha256: string; version: string; sent: boolean };
}

/**
 * A machine or container that runs commands. It is given as `target` to `bash` and to whatever runs commands. It is
 * connected until `close()`: a link that is cut is restored within `detachMs`, and calls wait meanwhile.
 */
export interface Target extends AsyncDisposable {
  /** The name in results: `'ssh:dev@build1'`, `'podman:web'`, `'kubernetes:ns/pod/container'`, `'command:nsenter'`. */
  readonly id: string;
  /** The kind of the address. */
  readonly kind: 'ssh' | 'docker' | 'podman' | 'kubernetes' | 'command';
  /** Whether commands can run. */
  readonly state: TargetState;
  /** The host program that is connected, or was last. */
  readonly info: TargetInfo;
  /**
   * Reads a file. `null`: it is missing. A file of more than 64 MiB is `ERR_BASH_INVALID_ARG`. Relative paths begin at
   * `info.cwd`, here and below. All of these reject with the code of the system there, as `EACCES` and `EISDIR`.
   */
  readFile(path: string): Promise<Uint8Array | null>;
  /**
   * Replaces a file at once, or makes it and its parents. A file that exists keeps its mode; `mode` is that of a new
   * one. A link is followed.
   */
  writeFile(path: string, data: string | Uint8Array, options?: { mode?: number | undefined }): Promise<void>;
  /** Tells what a file is. `null`: it is missing. */
  stat(path: string): Promise<FileStat | null>;
  /** Lists a directory. `null`: it is missing. */
  list(path: string): Promise<{ name: string; kind: FileKind }[] | null>;
  /** Removes a file, or with `recursive` a directory with all that is in it. Resolves with whether it was there. */
  remove(path: string, options?: { recursive?: boolean | undefined }): Promise<boolean>;
  /**
   * Listens on 127.0.0.1 here, on `localPort` or any port, and connects each client to `port` of `host` (127.0.0.1)
   * there. A cut resets the connections, and the port stays.
   */
  forward(
    port: number,
    options?: { host?: string | undefined; localPort?: number | undefined },
  ): Promise<ForwardedPort>;
  /**
   * `'disconnected'`: the link is cut, and calls wait. `'reconnected'`: it is there again, and nothing was lost.
   * `'lost'`: what ran there is gone; the next call connects anew. `'closed'`: by `close()`. A listener that throws
   * causes a warning of the process. Listeners do not keep Node alive. Throws `ERR_BASH_INVALID_ARG` for another event,
   * and for a listener that is no function.
   */
  on(event: 'disconnected' | 'reconnected' | 'lost' | 'closed', listener: TargetListener): this;
  /** Removes a listener. Does nothing if it was never added. */
  off(event: 'disconnected' | 'reconnected' | 'lost' | 'closed', listener: TargetListener): this;
  /**
   * Ends what runs there, as the end of this process does: commands, sessions, terminals, and tasks without a `dir`.
   * Commands that have not ended are `'aborted'`, or `'lost'`. Resolves within 8 s. May be called again.
   */
  close(): Promise<void>;
  /** Removes the host program and all that is its own there, and closes the target. Directories of tasks stay. */
  uninstall(): Promise<void>;
}
