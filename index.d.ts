// Written by `npm run build:ts` from ts/index.ts: do not edit.

//#region native.d.cts
/** A command that goes on in the background. */
interface BackgroundTask {
  /** Names the task in its registry. */
  id: string;
  /**
   * Process id of the shell, or of the eldest process if the task was adopted. 0 only if the task was lost before
   * its pid was known.
   */
  pid: number;
  /** The process group of that process. */
  pgid: number;
  /** The command as the caller gave it. For an adopted task, the command line of its eldest process. */
  command: string;
  /** The absolute directory that the task was started in. */
  cwd: string;
  /** Absolute path of the log: all output as sanitized text, and at the end one line that says how the task ended. */
  logPath: string;
  /** Unix time in ms. */
  startedAt: number;
  /**
   * `'exited'` by itself, `'killed'` by `kill`, a signal or a limit, `'lost'` if the end of the task was not
   * observed, because the machine was restarted or the task's helper process was killed.
   */
  state: 'running' | 'exited' | 'killed' | 'lost';
  /** As in a `BashResult`. `null` while the task runs and after it was lost. */
  exitCode: number | null;
  /**
   * The signal that ended the task, or the strongest signal that was sent (`'SIGTERM'`). `null` if the task exited
   * by itself.
   */
  signal: string | null;
  /** Unix time in ms; `null` while the task runs. */
  endedAt: number | null;
  /** The name of the target that runs the task, whose paths and pids these are; `null` for this machine. */
  target: string | null;
  /** The id of the draft in which the task runs; `null` outside of drafts. */
  draft: string | null;
}
/** A command is blocked on input that only a person or another program can give. */
interface BashPrompt {
  /**
   * The blocked process: the deepest process, not the shell above it. If only the last line of the output shows the
   * prompt, this is the shell.
   */
  pid: number;
  /** The command line of the process, at most about 100 characters, without control characters. */
  command: string;
  /**
   * The unfinished line that the command has written, at most its last 200 characters, without control characters:
   * `Password: `. `''` if there is none.
   */
  text: string;
}
/** The current state of a running command. */
interface BashSnapshot {
  /** Process id of the shell, also its process group id. */
  pid: number;
  /** The last 8 KiB of sanitized standard output, the unfinished line included. */
  stdout: string;
  /** The last 8 KiB of sanitized standard error, the unfinished line included. Empty with `merge`. */
  stderr: string;
  /** Time since the start of the process, in ms. */
  durationMs: number;
}
/** How each stream was cut, or `null` if its text is the whole stream. */
interface BashTruncation {
  /** Of standard output. */
  stdout: Truncation | null;
  /** Of standard error. */
  stderr: Truncation | null;
}
/** Resources that a command used. */
interface BashUsage {
  /** CPU time in user mode, in ms. */
  userMs: number;
  /** CPU time in the kernel, in ms. */
  systemMs: number;
  /** The largest resident size of one process, in bytes. */
  maxRssBytes: number;
}
/** A file or directory that was created, modified or deleted. */
interface Change {
  /** Absolute path: of a deleted file before the command, of other files after it. Invalid UTF-8 shows as U+FFFD. */
  path: string;
  /** Size after the command; `null` if the file was deleted, and for a kind without a size. */
  bytes: number | null;
  /** Size before the command; `null` if the file was created, and for a kind without a size. */
  bytesBefore: number | null;
  /** The kind; `'other'` is a device, a socket or a named pipe. */
  kind: 'file' | 'directory' | 'link' | 'other';
}
/** Numbers of changes. */
interface ChangeCounts {
  /** Of `created`. */
  created: number;
  /** Of `modified`. */
  modified: number;
  /** Of `deleted`. */
  deleted: number;
  /** Of `renamed`. */
  renamed: number;
}
/** The outcome of a confinement: plain data. */
interface Confinement {
  /** The profile that the confinement starts from. */
  profile: 'read-only' | 'workspace';
  /** The parts that were held. */
  held: ('files' | 'network' | 'processes' | 'syscalls')[];
  /** Parts that were not required and could not be held. */
  missing: Array<ConfineMissing>;
  /** What holds the parts. */
  way: 'namespaces' | 'listener' | 'landlock' | 'filter' | 'none' | 'seatbelt';
  /**
   * The files and directories that may be changed, besides private directories: those of the options, and what git
   * needs for them.
   */
  write: Array<string>;
  /** The denials, at most 50 entries. */
  denied: Array<Denial>;
  /** Number of all denials, including those that are not listed. */
  deniedTotal: number;
  /** The path of the private `/tmp` on the host, or `null` if it is shared. */
  tmp: string | null;
  /** What secrets were used for, or refused, at most 50 entries. */
  secrets: Array<SecretUse>;
}
/** A part that cannot be held on this machine. */
interface ConfineMissing {
  /** The part. */
  part: 'files' | 'network' | 'processes' | 'syscalls';
  /** Why it cannot be held. */
  why: string;
  /** The remedy for the user of this machine. */
  remedy: string;
}
/** Equal attempts that were denied. */
interface Denial {
  /** The kind of access that was denied. */
  kind: 'write' | 'read' | 'network' | 'process' | 'syscall';
  /** An absolute path, `host:port`, a name, or the name of a system call. */
  target: string;
  /** The basename of the executable whose access was denied. */
  program: string;
  /** The number of denials. */
  count: number;
  /** The smallest change of the options that would allow the access. `null` if no change does. */
  grant: DenialGrant | null;
}
/** A change of the options. Exactly one field is set. */
interface DenialGrant {
  /** A path that may be changed. */
  write?: Array<string>;
  /** A host that may be reached. */
  network?: GrantedNetwork;
  /** A port that the host's loopback forwards to. */
  expose?: Array<number>;
}
/** The changes that a command made in a git repository. Each pair is the value before the command and after it. */
interface GitChange {
  /** The absolute path of the repository's work tree. */
  repository: string;
  /** The id of the commit, `null` if there is none. */
  head: [string | null, string | null];
  /** The short name of the branch, `null` if HEAD is detached. */
  branch: [string | null, string | null];
  /** Whether the entries of the index changed. */
  index: boolean;
  /** Whether the stash changed. */
  stash: boolean;
  /** The operation that waits for the user after the command, or `null`. */
  state: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | null | null;
}
/** Hosts that may be reached. */
interface GrantedNetwork {
  /** The entries of the option. */
  allow: Array<string>;
}
/** One check of a task. */
interface NativeCheck {
  /** The task at that time. */
  task: BackgroundTask;
  /** The output in the task's log since the last check, cut like a result, without the closing line. */
  output: string;
  /** Number of lines of that output before the cut, including an unfinished last line. */
  newLines: number;
  /** The position up to which the log was read: an offset in bytes, for the `cursor` of a later check. */
  cursor: number;
  /** How the output was cut, or `null`. */
  truncation: Truncation | null;
  /** Whether the awaited pattern or port appeared. */
  matched: boolean;
  /**
   * The process that has the awaited port, if it does not belong to the task, such as a server that was left before.
   * `null` otherwise, and if that is not known.
   */
  stranger: PortStranger | null;
  /** The parts that the task's confinement holds, and all denials so far; `null` if the task is not confined. */
  confinement: Confinement | null;
  /** Permanent name of the task's run, for `undo`; `null` while the task runs. */
  runId: string | null;
  /** The changes that the task's command made; `null` while the task runs, and if no receipt was wanted. */
  receipt: Receipt | null;
  /** The extent of `undo`; `null` while the task runs, and if it cannot be undone. */
  undo: UndoCoverage | null;
  /** `BackgroundCheck.evidence` as JSON. */
  evidence: string | null;
}
/** A piece of live output. */
interface OutputChunk {
  /** The stream. With `merge` always `'stdout'`. */
  stream: 'stdout' | 'stderr';
  /** Sanitized text, at most 64 KiB of UTF-8, never cut inside a character. */
  text: string;
}
/** A TCP port at which a server listens. */
interface Port {
  /** 1 to 65,535. */
  port: number;
  /** The address of the socket; `'0.0.0.0'` and `'::'` stand for every address of this machine. */
  address: string;
  /** The process that holds the socket, or `null` if it was not found. */
  pid: number | null;
}
/** Ports that differ after a command. */
interface PortChanges {
  /** Ports with a server now, and without a server before. */
  opened: Array<Port>;
  /** Ports without a server now, and with a server before. */
  closed: Array<Port>;
}
/** A process that listens at the port of a wait and does not belong to the task. */
interface PortStranger {
  /** Its process id. */
  pid: number;
  /** Its command line. */
  command: string;
}
/** The changes made while a command ran: the net effect. */
interface Receipt {
  /**
   * Completeness of the receipt: `'known'` lists every change, with `'partial'` some changes may be missing or
   * listed without a difference, with `'unknown'` any change may be missing.
   */
  state: 'known' | 'partial' | 'unknown';
  /** Why the state is not `'known'`, as a sentence; `null` if it is. */
  why: string | null;
  /**
   * The origin of the changes: `'command'` the command's own processes, `'window'` any process that made changes
   * while the command ran.
   */
  attribution: 'command' | 'window';
  /** Files and directories that exist now and did not exist before, by path, at most 100. */
  created: Array<Change>;
  /** Files with other contents, and files and directories with another mode, owner or attributes, at most 100. */
  modified: Array<Change>;
  /** Files and directories that existed before and are gone, at most 100. */
  deleted: Array<Change>;
  /** Files and directories that have another path now, at most 100. The contents of a directory are not listed. */
  renamed: Array<Rename>;
  /** Numbers of all changes, including those that are not listed. */
  counts: ChangeCounts;
  /** Absolute paths of large ignored directories that changed and are not listed file by file. */
  directories: Array<string>;
  /** TCP ports with a server that came or went. */
  ports: PortChanges;
  /** Repositories below whose `.git` anything changed. */
  git: Array<GitChange>;
}
/** A file or directory that has another path. */
interface Rename {
  /** The absolute path before the command. */
  from: string;
  /** The absolute path after the command. */
  to: string;
}
/** Equal requests that were made with a secret, or would have been. */
interface SecretUse {
  /** The name of the secret. */
  name: string;
  /** The host, with its port unless that is 443. */
  host: string;
  /** The method of the request. Empty if the connection was not opened. */
  method: string;
  /** The path of the request, without its query. Empty if the connection was not opened. */
  path: string;
  /** The number of requests. */
  count: number;
  /** The status of the host's answer, or `null` if there was none. */
  status: number | null;
  /** Why the secret was not put in, or `null` if it was. */
  refused: string | null;
}
/** A process that a command left running. */
interface Survivor {
  /** The process id. */
  pid: number;
  /** The command line, at most 200 characters. */
  command: string;
  /**
   * The task that the process belongs to from now on, or `null` if the process no longer holds the command's pipes
   * or there is no registry.
   */
  taskId: string | null;
}
/** A place on the screen, from 0. */
interface TerminalCursor {
  /** From the top. */
  row: number;
  /** From the left, in cells. */
  col: number;
}
/** The keyboard modes that the program has set. */
interface TerminalModes {
  /** Arrow keys use their other form: `ESC O A` in place of `ESC [ A` (DECCKM). */
  applicationCursor: boolean;
  /** Pasted text is enclosed in `ESC [ 200 ~` and `ESC [ 201 ~`. */
  bracketedPaste: boolean;
}
/** The screen as a person sees it. */
interface TerminalScreen {
  /** One text per row of the terminal, without trailing blanks. A wide character occurs once. */
  lines: Array<string>;
  /** The position of the next character. */
  cursor: TerminalCursor;
  /** The title that the program has set, at most 4 KiB, or `''`. */
  title: string;
  /**
   * Whether the program draws the whole screen, as an editor or a pager does. The previous content returns at its
   * end.
   */
  alternate: boolean;
}
/** The result of a wait. */
interface TerminalWaited {
  /** The event that came first. */
  reason: 'exit' | 'idle' | 'pattern' | 'timeout';
  /** As in `BashResult`; `null` while the program runs. */
  exitCode: number | null;
}
/** How a stream was cut. The figures are of the sanitized stream without the notice. */
interface Truncation {
  /** The policy: which part was kept. */
  keep: 'tail' | 'head' | 'ends';
  /** The limit that was hit first. */
  by: 'lines' | 'bytes' | 'chars';
  /** Number of lines of the stream, including an unfinished last line. */
  totalLines: number;
  /** Bytes of the stream. */
  totalBytes: number;
  /** Number of shown lines, including cut lines. */
  outputLines: number;
  /** Bytes shown. */
  outputBytes: number;
  /** First line shown, 1-based (`'ends'`: of the head part, then see `notice`). */
  firstLine: number;
  /** Last line shown, 1-based. */
  lastLine: number;
  /** Whether the first (tail) or last (head) shown line is cut. */
  partialLine: boolean;
  /** The file with the whole sanitized stream, or `null` if it was not written. */
  path: string | null;
  /** The id that `spill.allocate` gave, or `null`. */
  artifactId: string | null;
  /** The reason why the file is incomplete or missing, at most 80 bytes, or `null`. */
  spillError: string | null;
  /** The notice that was added to the text. */
  notice: string;
}
/** A thing that an undo does not touch. */
interface UndoConflict {
  /** The path of the thing. */
  path: string;
  /** The reason, as a sentence. */
  why: string;
  /** The place that keeps the earlier thing, for as long as points are kept, or `null`. */
  keptAt: string | null;
}
/** The extent of the undo of a command. */
interface UndoCoverage {
  /** Whether all changed files are covered. */
  covers: 'all' | 'part';
  /** Effects that no undo takes back, as sentences. At most 100 paths are named, and the others are counted. */
  notCovered: Array<string>;
  /** Bytes that are kept for the undo. A file that is kept by another name counts as 0. */
  bytes: number;
}
/** The effect of an undo, or of a dry run. */
interface Undone {
  /** The run that was undone. */
  runId: string;
  /** Paths of things that are again as before the run, sorted. */
  restored: Array<string>;
  /** Paths of removed things that the run had made. */
  removed: Array<string>;
  /** Things that stay unchanged, because they changed after the run. */
  conflicts: Array<UndoConflict>;
  /** Effects that no undo takes back, as sentences. At most 100 paths are named, and the others are counted. */
  notCovered: Array<string>;
  /** Names this undo, which is itself undone by `undo(undoId)`. Empty if nothing changed. */
  undoId: string;
}
/** A run that can be undone, or could before its point was evicted. Undos are listed, too. */
interface UndoPoint {
  /** The argument of `undo`. */
  runId: string;
  /** The command as the caller gave it. */
  command: string;
  /** The directory of the command. */
  cwd: string;
  /** The start of the command, Unix time in ms. */
  at: number;
  /** Whether an undo covers all changed files. */
  covers: 'all' | 'part';
  /** Bytes that are kept for the point. */
  bytes: number;
  /** Why the point is gone, or `null` if it still exists. */
  evicted: string | null;
}
/** The numbers of this process's warm shells, over all its threads. */
interface WarmShells {
  /** Shells that are warm now. */
  waiting: number;
  /** Commands that ran in a warm shell so far. */
  used: number;
  /**
   * Warm shells that could not be used, because they had exited or their directory had been replaced. Their command
   * started cold.
   */
  stale: number;
}
//#endregion
//#region ts/target/types.d.ts
/** A container, by its name or id. */
interface ContainerAddress {
  /** The name or id of the container. */
  container: string;
  /** The user; without it, that of the container. */
  user?: string | undefined;
  /** The client with its first arguments, in place of `docker` or `podman`. */
  program?: string[] | undefined;
}
/** A machine with an ssh server. */
interface SshAddress {
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
interface PodAddress {
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
type TargetAddress = {
  ssh: string | SshAddress;
} | {
  docker: string | ContainerAddress;
} | {
  podman: string | ContainerAddress;
} | {
  kubernetes: PodAddress;
} | {
  /** Any program that passes its standard streams to a shell there, with its arguments. */command: string[];
  /**
   * How our text is appended: `'argv'` (default) as `/bin/sh`, `-c` and the text, as nsenter and srun want it, or
   * `'shell'` as one line for a login shell, as `tsh ssh` wants it.
   */
  quoting?: 'argv' | 'shell' | undefined;
};
/** Options of `connect`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
interface ConnectOptions {
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
type FileKind = 'file' | 'directory' | 'link' | 'other';
/** A file of a target. A link is not followed. */
interface FileStat {
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
interface TargetEvent {
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
type TargetListener = (event: TargetEvent) => void;
/** Whether commands can run: a target that is lost connects anew with the next call. */
type TargetState = 'connected' | 'disconnected' | 'lost' | 'closed';
/** A port of a target that is a port of this machine. */
interface ForwardedPort {
  /** The port on 127.0.0.1 of this machine. */
  port: number;
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** Closes the port and its connections. May be called again. */
  close(): Promise<void>;
}
/** A host program, there. */
interface TargetInfo {
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
  program: {
    path: string;
    sha256: string;
    version: string;
    sent: boolean;
  };
}
/**
 * A machine or container that runs commands. It is given as `target` to `bash` and to whatever runs commands. It is
 * connected until `close()`: a link that is cut is restored within `detachMs`, and calls wait meanwhile.
 */
interface Target extends AsyncDisposable {
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
  writeFile(path: string, data: string | Uint8Array, options?: {
    mode?: number | undefined;
  }): Promise<void>;
  /** Tells what a file is. `null`: it is missing. */
  stat(path: string): Promise<FileStat | null>;
  /** Lists a directory. `null`: it is missing. */
  list(path: string): Promise<{
    name: string;
    kind: FileKind;
  }[] | null>;
  /** Removes a file, or with `recursive` a directory with all that is in it. Resolves with whether it was there. */
  remove(path: string, options?: {
    recursive?: boolean | undefined;
  }): Promise<boolean>;
  /**
   * Listens on 127.0.0.1 here, on `localPort` or any port, and connects each client to `port` of `host` (127.0.0.1)
   * there. A cut resets the connections, and the port stays.
   */
  forward(port: number, options?: {
    host?: string | undefined;
    localPort?: number | undefined;
  }): Promise<ForwardedPort>;
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
//#endregion
//#region ts/confine/types.d.ts
/** The option `confine` of a command. */
type ConfineSetting = 'off' | 'read-only' | 'workspace' | ConfineOptions;
/**
 * The reach of a command, whatever its text. Every option may be left out, and `undefined` counts as left out. An
 * option that does not exist, a wrong value, and options that contradict each other are `ERR_BASH_INVALID_ARG`.
 *
 * A path is absolute or begins with `~/`, which is below `$HOME` of this process and below the home in the user
 * database alike. It is no pattern: `*` and `?` are refused, unless a file has that name. Links and `..` are resolved
 * once for each owner of commands. A list has at most 256 entries.
 */
interface ConfineOptions {
  /**
   * The starting point: `'workspace'` lets commands change files below `cwd`, `'read-only'` lets them change no files.
   *
   * @default 'workspace'
   * @example await bash('npm test', { confine: { profile: 'read-only', write: ['/srv/project/coverage'] } });
   */
  profile?: 'read-only' | 'workspace' | undefined;
  /**
   * Directories and files that may be changed, in addition to the directories and files of the profile. A missing path
   * is `ERR_BASH_CONFINEMENT`. The root directory, a directory of the kernel, a path in a hidden or protected
   * directory, and a link that leads out of another entry are refused.
   *
   * @default []
   * @example await bash('make install', { confine: { write: ['/srv/www'] } });
   */
  write?: string[] | undefined;
  /**
   * Whether git can work in a repository that lies outside of those directories: `'repository'` lets commands change
   * the git directory of a linked work tree, of a submodule, or of the repository above a directory, but not its hooks,
   * its configuration, and what belongs to other work trees. The git directory must lead back to the directory;
   * otherwise `notes` has the reason. With profile `'read-only'`, and with `'none'`, nothing outside can be changed.
   *
   * @default 'repository'
   * @example await bash('git status', { confine: { git: 'none' } });
   */
  git?: 'repository' | 'none' | undefined;
  /**
   * Files that are never changed or created in those directories: names relative to each of them and to each git
   * repository in it, or paths. The list replaces the default list, which has `.git/hooks`, `.git/config`, `.vscode`,
   * `.idea`, `.mcp.json`, `.claude`, `.cursor`, `.envrc`, `.gitconfig`, `.npmrc` and the start files of shells.
   *
   * @default the list above
   * @example await bash('npm version patch', { confine: { protect: ['.git/hooks', 'infra/production'] } });
   */
  protect?: string[] | undefined;
  /**
   * Paths that can be neither read nor listed, added to the default list: keys, tokens and passwords in the home,
   * profiles of browsers, keyrings, and the directories of this package. A path may be missing. A path that contains
   * `cwd` is refused.
   *
   * @default []
   * @example await bash('npm test', { confine: { hide: ['/srv/project/.env', '~/finances'] } });
   */
  hide?: string[] | undefined;
  /**
   * Paths that can be read. `'all'`: all except the hidden paths. A list: these paths, the paths that may be changed,
   * and the directories of the system. A list must reach `cwd`.
   *
   * @default 'all'
   * @example await bash('cargo build', { confine: { read: ['~/.cargo', '~/.rustup'] } });
   */
  read?: 'all' | string[] | undefined;
  /**
   * Hosts that can be reached. `'none'`: only the loopback of the commands. `'full'`: all hosts, as without
   * confinement. An object: the hosts of its list.
   *
   * @default 'none'
   * @example await bash('npm ci', { confine: { network: { allow: ['registry.npmjs.org'] } } });
   */
  network?: 'none' | 'full' | ConfineNetwork | undefined;
  /**
   * TCP ports of the commands' own loopback that the loopback of this machine forwards to: at most 64 whole numbers
   * from 1 to 65,535. Refused with network `'full'`. A port that another server or owner has is `ERR_BASH_CONFINEMENT`,
   * or a note if `require` is without `'network'`.
   *
   * @default []
   * @example await bash('npm run dev', { mode: 'background', confine: { expose: [3000] } });
   */
  expose?: number[] | undefined;
  /**
   * Whether `/tmp`, `/var/tmp` and `/dev/shm` are private to the commands and end with their owner, or are this
   * machine's. Either way they can be changed.
   *
   * @default 'private'
   * @example await bash('cp build.tar /tmp', { confine: { tmp: 'shared' } });
   */
  tmp?: 'private' | 'shared' | undefined;
  /**
   * The caches of package managers. `'overlay'`: caches can be read, and written files end with the owner. `'shared'`:
   * the caches of this user, which can be changed. `'none'`: caches are as read-only as the rest of the home.
   *
   * @default 'overlay'
   * @example await bash('npm ci', { confine: { caches: 'shared', network: { allow: ['registry.npmjs.org'] } } });
   */
  caches?: 'overlay' | 'shared' | 'none' | undefined;
  /**
   * The parts that must hold. If this machine cannot hold one, nothing is started: `ERR_BASH_CONFINEMENT`, with
   * `missing`. A part that is not required and cannot be held is in `result.confinement.missing`.
   *
   * @default all that the options ask for: all four, without `'network'` if that is `'full'`
   * @example await bash('npm test', { confine: { require: ['files'] } });
   */
  require?: ConfinePart[] | undefined;
  /**
   * Secrets that commands use and cannot read, by the variables in which they see a stand-in: a text of the same form
   * that is worth nothing elsewhere. The gate of the commands puts the value in its place, in requests over TLS to the
   * hosts of the secret, which are allowed by that. At most 64. `'network'` and `'processes'` are then required.
   * Refused with network `'full'`. A variable of `env`, and one by which programs are steered, such as `PATH`, is
   * refused.
   *
   * @default {}
   * @example await bash('gh api user', {
   *   confine: { secrets: { GITHUB_TOKEN: { value: token, hosts: ['api.github.com'] } } },
   * });
   */
  secrets?: Record<string, Secret> | undefined;
  /**
   * The ssh agent of this machine, for some hosts alone, which are allowed by that. Commands find it by
   * `SSH_AUTH_SOCK`. It signs logins to these hosts, and nothing else. `'network'` and `'processes'` are then required.
   * Refused with network `'full'`.
   *
   * @default commands have no agent
   * @example await bash('git push', { confine: { ssh: { hosts: ['github.com'] } } });
   */
  ssh?: ConfineSsh | undefined;
}
/** The use of this machine's ssh agent. */
interface ConfineSsh {
  /**
   * The path of the agent's socket.
   *
   * @default that of `SSH_AUTH_SOCK`
   */
  agent?: string | undefined;
  /**
   * Hosts as in `network.allow`, with port 22 unless one is named, at most 64. A key of each must be in the
   * `known_hosts` of this user or machine. Lines with an authority of hosts (`@cert-authority`) do not count.
   */
  hosts: string[];
  /**
   * Fingerprints of the keys that commands see and use, as `ssh-add -l` prints them (`SHA256:…`), at most 64.
   *
   * @default all keys of the agent
   */
  keys?: string[] | undefined;
}
/** A secret that commands use and cannot read. */
interface Secret {
  /**
   * The value: 8 bytes to 64 KiB, with at least 8 letters and digits. A function is called before the first command,
   * and before later ones after `ttlMs`. If it fails, the gate answers requests with 407 and the reason.
   *
   * @example { value: () => keychain.get('github'), hosts: ['api.github.com'] }
   */
  value: string | (() => string | Promise<string>);
  /** Names and `*.domain`, each with an optional port, as in `network.allow`. Addresses are refused. */
  hosts: string[];
  /**
   * Where the value may be put in: `'bearer'` and `'basic'` in `Authorization`, `'header'` in any header, `'query'` in
   * the URL, `'body'` in forms and JSON, `'sigv4'` as the key that signs a request to AWS, or its id. A stand-in
   * anywhere else in a request is answered with 403.
   *
   * @default any header, and the user and password of Basic
   */
  as?: SecretPlace | SecretPlace[] | undefined;
  /**
   * Methods for which the secret may be used. `*` stands for any characters. Others are answered with 403.
   *
   * @default all
   */
  methods?: string[] | undefined;
  /**
   * Paths for which the secret may be used, such as `/repos/acme/*`, in which `*` stands for any characters. Others are
   * answered with 403, and so are paths that servers read in several ways, such as `/a/../b`.
   *
   * @default all
   */
  paths?: string[] | undefined;
  /**
   * Whether the value is put in although a command sends no `Authorization`. No variable is set then. It needs `as`:
   * `'bearer'`, or `'basic'` with a value `user:password`.
   *
   * @default false
   */
  inject?: boolean | undefined;
  /**
   * The path of a file in which commands find the stand-in, in place of a variable: the file of that path on this
   * machine, which must exist, or `template`. It is read-only.
   *
   * @default a variable
   */
  file?: string | undefined;
  /**
   * The content of the file, in which `${NAME}` is the stand-in.
   *
   * @default the content of the file on this machine
   */
  template?: string | undefined;
  /**
   * Milliseconds after which a function is called again.
   *
   * @default it is called once
   */
  ttlMs?: number | undefined;
}
/** Where a secret may be put into a request. */
type SecretPlace = 'bearer' | 'basic' | 'header' | 'query' | 'body' | 'sigv4';
/** Hosts that can be reached. */
interface ConfineNetwork {
  /**
   * Entries, each a name, `*.domain` (all names below, and not the domain), an IP address or a CIDR, with an optional
   * port: `registry.example.org`, `*.example.org:8443`, `10.0.0.0/8:5432`, `[2001:db8::1]:443`. Without a port 80 and
   * 443. A name that resolves to a private, loopback or link-local address is refused, unless `hosts` maps it.
   * `localhost`, `127.0.0.1` and `::1` always mean the commands' own loopback.
   *
   * @example await bash('npm ci', { confine: { network: { allow: ['registry.npmjs.org', '*.github.com:22'] } } });
   */
  allow: string[];
  /**
   * IP addresses by name, which are asked before any resolver. An entry of `allow` must have the name.
   *
   * @default {}
   * @example await bash('npm test', {
   *   confine: { network: { allow: ['db.local:5432'], hosts: { 'db.local': '127.0.0.1' } } },
   * });
   */
  hosts?: Record<string, string> | undefined;
}
/**
 * A part of a confinement: which files can be read and written, which hosts can be reached, which processes can be seen
 * and signalled, which system calls are refused.
 */
type ConfinePart = 'files' | 'network' | 'processes' | 'syscalls';
//#endregion
//#region ts/evidence/types.d.ts
/** What a command proved: the end of each of its parts, and the failures that its exit code does not show. */
interface Evidence {
  /**
   * `'failed'`: the command did not end by itself, its exit code is not 0, a test failed, or a failure is masked.
   * `'unproven'`: no failure is known, but not every part is known to have ended well. Otherwise `'passed'`.
   */
  verdict: 'passed' | 'failed' | 'unproven';
  /** Why the verdict is not `'passed'`, in a sentence; otherwise `null`. */
  why: string | null;
  /**
   * How much `parts` knows. `'known'`: every process that the shell waited for. `'partial'`: some are missing, or a
   * failure has no certain place. `'unknown'`: the shell could not be watched, as one that is not bash, or linked
   * statically, or of macOS.
   */
  state: 'known' | 'partial' | 'unknown';
  /**
   * The programs that the command's own shell started or did not find, and what ran in a subshell: in the order of
   * their start, at most 50. If there are more, failed ones are kept first.
   */
  parts: Part[];
  /** The number of all parts. */
  partsTotal: number;
  /** Failures that the exit code of the command does not show, at most 20. */
  masked: Masked[];
  /**
   * The first command whose exit code is not known and whose failure the text can hide, if `state` is not `'known'` and
   * the command ended by itself. One in front of a pipe is preferred. Otherwise `null`.
   */
  notKnown: NotKnown | null;
  /** The counts of tests, one for each runner whose output was recognised. */
  tests: TestCounts[];
  /** The parts that check something, at most 8: tests, lints, types, builds. */
  checks: Check[];
  /** The whole output of a pipeline's first program; `null` if none was kept. */
  tap: Tap | null;
}
/** A part of a command that ran as a process of its own. */
interface Part {
  /** Its source, at most 200 characters. */
  command: string;
  /**
   * Its place in the command: start and end in UTF-16 units. `null` for a part from elsewhere, as from `eval`, a file
   * that was sourced, an alias or a function of a session.
   */
  span: [number, number] | null;
  /** 0 … 255, as `$?` has it: 128 + n after signal n; `null` if it is not known, or the part still runs. */
  exitCode: number | null;
  /** The signal that ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
  /** How often the part ended like this, as in a loop. */
  times: number;
}
/** A failed part whose exit code the command did not take. */
interface Masked extends Part {
  /**
   * What hides it: a later element of its pipeline, the right side of `||`, what ran after it, `&`, or `$(…)`.
   */
  by: 'pipe' | 'or' | 'sequence' | 'background' | 'substitution';
  /** The source of what ran in its place or after it; `null` with `'background'` and `'substitution'`. */
  behind: string | null;
}
/** A command whose exit code is not known, by the text. */
interface NotKnown extends Pick<Masked, 'command' | 'span' | 'by' | 'behind'> {}
/** A part of a command that checks something. */
interface Check {
  /** The same for the same words in the same directory, whatever is around them: `timeout 60`, `| tail`. */
  id: string;
  /** Its source, at most 200 characters. */
  command: string;
  /** The absolute directory in which it ran. */
  cwd: string;
  /** What it checks. */
  kind: 'test' | 'lint' | 'types' | 'build';
  /** The verdict of this part, whatever hides it. */
  verdict: Evidence['verdict'];
  /** The run of this check before this one, in this process; `null` if it is the first of those remembered. */
  last: CheckRun | null;
  /** The last run before this one that passed; `null` if none did. */
  lastPassed: CheckRun | null;
  /**
   * What changed from the end of `lastPassed` to the start of this run; `null` without one. `'unknown'` without the
   * option `evidence: 'tree'` for both.
   */
  since: Since | null;
  /**
   * The names of failed tests, compared with `last`: `fixed` failed then, `same` failed then and now, `appeared` fail
   * now. `null` if one of the two runs has no complete counts.
   */
  again: {
    fixed: string[];
    same: string[];
    appeared: string[];
  } | null;
}
/** One run of a check. */
interface CheckRun {
  /** The name of the run, as in its result. */
  runId: string;
  /** The time of its end, Unix time in ms. */
  at: number;
  /** Its verdict. */
  verdict: Evidence['verdict'];
  /** Its exit code, 128 + n after signal n; `null` if it is not known. */
  exitCode: number | null;
}
/** The files that changed since a run. Files that git ignores do not count. */
interface Since {
  /** How complete the list is. */
  state: 'known' | 'partial' | 'unknown';
  /** Why the state is not `'known'`, in a sentence; otherwise `null`. */
  why: string | null;
  /** The number of all changed files. */
  total: number;
  /** Their absolute paths, at most 20. */
  paths: string[];
}
/**
 * A run whose result was given again. The result has a `runId` of its own, the `evidence` of the run, and the `pid` 0,
 * or that of the filter.
 */
interface Reused {
  /** The run that ran. */
  runId: string;
  /** The time of its end, Unix time in ms. */
  at: number;
  /** Whether its output went through another filter, which did run. */
  filtered: boolean;
  /** What was compared, in words. */
  checked: string[];
  /** What its result may depend on and was not compared. */
  notChecked: string[];
}
/** The whole output of the first program of a pipeline. */
interface Tap {
  /** The source of the program. */
  command: string;
  /** Whether its output was kept. */
  kept: boolean;
  /** Why it was not kept, in a sentence; otherwise `null`. */
  why: string | null;
  /** The number of the output, for `recall` and `OutputStore.read`; 0 if it was not kept. */
  id: number;
  /** The absolute path of the file with the output, on the target of the command; `null` if it was not kept. */
  path: string | null;
  /** The number of lines that the program wrote until it ended, or its reader left. */
  lines: number;
  /** The number of bytes that it wrote. */
  bytes: number;
  /** Whether the file has all of it: neither did the reader leave before, nor was there too much. */
  complete: boolean;
}
/** The tests of one runner in an output. Plain data. */
interface TestCounts {
  /** The runner, by the name of its rule: `'pytest'`, `'go-test'` … */
  runner: string;
  /** Passed tests, with flaky ones and unexpected passes. `null`: the runner does not print it, as `go test`. */
  passed: number | null;
  /** Failed tests, and errors: tests that could not begin, and files that could not be loaded. */
  failed: number;
  /** Skipped tests, with todo, ignored, excluded and pending ones and expected failures. `null`: not printed. */
  skipped: number | null;
  /** All tests but those that the runner's own total leaves out. `null`: not printed, and not the sum of the others. */
  total: number | null;
  /** Names of failed tests as the runner prints them, at most 50. */
  failures: string[];
  /** The number of names that were printed. Less than `failed`: the runner did not name them all. */
  failuresTotal: number;
  /** Whether the runner's summary was there. Without one, single lines were counted. */
  complete: boolean;
}
/** A check that ran in this process, as it stands now. Plain data. */
interface Standing extends Pick<Check, 'id' | 'command' | 'cwd' | 'kind' | 'lastPassed' | 'since'> {
  /** Its last run. */
  run: CheckRun;
  /** Whether a file changed since the end of `run`. `null` if that is not known. */
  stale: boolean | null;
}
/** Options of `listChecks`. */
interface ListChecksOptions {
  /**
   * Only checks that ran in this directory or below.
   *
   * @default none: all checks of the process
   * @example await listChecks({ cwd: '/work/app' });
   */
  cwd?: string | undefined;
}
/** Options of `readTests`. */
interface ReadTestsOptions {
  /**
   * The command. If it names a runner, a terse summary such as `3 passed in 0.01s` counts, too. If it only shows files
   * or searches (`cat`, `grep`, `tail`), nothing counts.
   *
   * @default none: the output alone decides
   * @example readTests(stdout, { command: 'pytest -q' });
   */
  command?: string | undefined;
  /**
   * The exit code; `null`: ended by a signal. A run that was killed, also with a code from 129 to 192, is not complete
   * where a runner prints a summary for each package, module or binary, since further ones could have followed.
   *
   * @default none: the run was not killed
   * @example readTests(stdout, { exitCode: null });
   */
  exitCode?: number | null | undefined;
}
//#endregion
//#region ts/safety/analysis.d.ts
/**
 * The treatment of a command, from the mildest to the strictest: it runs, it runs with a note, a person is asked, it
 * does not run.
 */
type Verdict = 'allow' | 'warn' | 'ask' | 'deny';
/**
 * How a program runs another command. `'exec-rest'`: the words after its options are the command (sudo, env, nice).
 * `'shell-string'`: one word is a script (bash -c, eval). `'stdin-script'`: a script comes on its standard input (bash,
 * ssh). `'per-item'`: its words begin a command that runs once for each item (xargs, parallel).
 */
type WrapperKind = 'exec-rest' | 'shell-string' | 'stdin-script' | 'per-item';
/** The effect of a command, as far as its text, its directory and its environment tell. Plain data. */
interface Analysis {
  /** The command as it was given. */
  command: string;
  /** The directory in which it starts, absolute. */
  cwd: string;
  /** The level of the strictest finding; `'allow'` without one. */
  verdict: Verdict;
  /**
   * Whether all of the command could be judged. A NUL, a syntax error or a limit of the engine has a finding
   * `incomplete`.
   */
  complete: boolean;
  /**
   * Whether the command only reads. `'unknown'` for a program named by its path, which may be a different program, and
   * for git, which may run code on a read.
   */
  readOnly: 'yes' | 'no' | 'unknown';
  /** The findings, the strictest first. */
  findings: Finding[];
  /** Every simple command, at any depth, in the order of the text. */
  commands: CommandUnit[];
}
/** A reason why a command does not simply run. */
interface Finding {
  /** The rule, in kebab-case; see `safetyRules()`. */
  ruleId: string;
  /** The level of the finding. */
  level: Verdict;
  /**
   * `'exact'`: the command does it if it runs at all. `'partial'`: it does if a guess is right. `'opaque'`: the code
   * that would run cannot be seen. Only an exact finding denies.
   */
  confidence: 'exact' | 'partial' | 'opaque';
  /** The place in the command: half-open, in UTF-16 units. For code inside a word (`bash -c '…'`) the whole word. */
  span: [number, number];
  /** The words of the simple command, after expansion. */
  argv: string[];
  /** The way to the command; see `CommandUnit.via`. */
  via: string[];
  /** A sentence that names the problem and a remedy. */
  message: string;
  /** A command to use instead, which the engine lets through; `''` if there is none. */
  suggestion: string;
}
/** A simple command. */
interface CommandUnit {
  /**
   * The name of the program without its directory; `null` if it is not known, or if there are only assignments or
   * redirects.
   */
  name: string | null;
  /** The program as written; `null` in the same cases. */
  path: string | null;
  /** The words, the program first, without the wrappers before it. */
  argv: Word[];
  /** The words of wrappers before it in the same command: `sudo`, `-u`, `root`. */
  prefix: string[];
  /** `NAME=value` before it. */
  assignments: string[];
  /** The redirects, including the redirects of a group around the command. */
  redirects: CommandRedirect[];
  /** The absolute directory in which the command runs, after each `cd` before it. `null` if it is not known. */
  cwd: string | null;
  /**
   * The chain of nesting around it, the outermost first: `sudo`, `bash -c`, `heredoc`, `xargs` …. Empty for a command
   * of the text itself.
   */
  via: string[];
  /** The place in the command, as in a `Finding`. */
  span: [number, number];
  /** The command as it is written. */
  source: string;
  /** Whether the command only runs other commands, all of which are listed: `bash -c '…'`, a function of the script. */
  wrapper: boolean;
  /**
   * Whether this command only reads, its redirects included. `'unknown'` for a program that is named by a path, and for
   * git commands during which a repository's settings may run code.
   */
  readOnly: 'yes' | 'no' | 'unknown';
}
/** A redirect. */
interface CommandRedirect {
  /** The operator: `>`, `>>`, `<`, `<<`, `<<<`, `&>` …. */
  op: string;
  /** The descriptor before the operator; `null` without one. */
  fd: number | null;
  /** The file, descriptor, here-string or delimiter. */
  target: Word;
  /** The file, absolute; `null` if it is not known or there is none. */
  path: string | null;
}
/** A word after its expansion. */
interface Word {
  /** The text; as it is written if it is not known. */
  text: string;
  /** Whether the program gets exactly `text`. */
  known: boolean;
}
/** The answer of `decide`. */
interface Decision {
  /** Whether the command may run, a person is asked, or it may not run. */
  verdict: 'allow' | 'ask' | 'deny';
  /**
   * The parts that no allow rule matches: the text of each command, and `write:PATH` for each file that is written.
   * Empty without an `allow` list.
   */
  unmatched: string[];
  /**
   * Allow rules for the unmatched parts, which would allow this command and similar ones. Wrappers,
   * interpreters and the text of a heredoc get no rule, and neither does a command about which the analysis itself
   * asks.
   */
  suggestRules: string[];
  /**
   * For commands in `unmatched`: the nearest allow rule for the same program and subcommand, and the part that does not
   * match, in words. Missing if no rule is near.
   */
  nearest?: {
    command: string;
    rule: string;
    why: string;
  }[];
}
/** A rule of the engine. */
interface SafetyRule {
  /** The stable id in kebab-case. */
  id: string;
  /** The level of its findings, unless `SafetyOptions.rules` sets another. */
  level: Verdict;
  /** One or two sentences on the commands that it stops, and why. */
  doc: string;
  /** Commands with a finding of this rule. */
  matches: string[];
  /** Similar commands without one. */
  passes: string[];
}
//#endregion
//#region ts/ledger/types.d.ts
/** The parties that ask for a command. Every field may be left out. Each keeps its first 200 characters. */
interface Actor {
  /**
   * The name of the agent.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { agent: 'reviewer' } });
   */
  agent?: string | undefined;
  /**
   * The conversation in which the agent works.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { session: 'a81f' } });
   */
  session?: string | undefined;
  /**
   * The call of a tool that asks for the command.
   *
   * @default none; a tool fills in the id of its call
   * @example await bash('make', { ledger: true, actor: { toolCallId: 'call_7' } });
   */
  toolCallId?: string | undefined;
  /**
   * The person for whom the agent works.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { user: 'ada' } });
   */
  user?: string | undefined;
}
/** The end of a run, or that it goes on. */
type LedgerState = 'running' | 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'refused' | 'lost';
/** One run, as the ledger has it. */
interface LedgerEntry {
  /** `BashResult.runId`. */
  runId: string;
  /** Unix time, ms. */
  startedAt: number;
  /** Unix time, ms; `null` while the run goes on, and if its end is not known. */
  endedAt: number | null;
  /**
   * As in `BashResult`, and also: `'running'`, `'backgrounded'` for a task that runs, `'refused'` for a command that
   * was not started, `'lost'` for a run whose end is not known because its helper was killed.
   */
  state: LedgerState;
  /** The command, with `[redacted]` in place of each secret. The part beyond a record of 32 KiB is cut off. */
  command: string;
  /** Whether a secret was taken out of the command. */
  redacted: boolean;
  /** The absolute directory in which the command started. */
  cwd: string;
  /** The process that ran the command. */
  host: {
    pid: number; /** The program and its script, such as `node agent.js`. */
    program: string;
  };
  /** The parties that asked for the command; `null` if none was named. */
  actor: Actor | null;
  /** The strictest finding of the safety engine; `'allow'` if there was none, or the command was not judged. */
  verdict: Verdict;
  /** The rules of all findings, sorted. */
  rules: string[];
  /** Where a person has decided about the command, `'host'` or `'page'`; `null` if no person was asked. */
  decidedBy: string | null;
  /** The profile of the confinement; `null` if the command was not confined. */
  confinement: string | null;
  /** As in `BashResult`; `null` while the run goes on, if it was refused, and if its end is not known. */
  exitCode: number | null;
  /** The signal that ended the shell; `null` if none did. */
  signal: string | null;
  /** Time to the exit of the shell, in ms; `null` where `exitCode` is. */
  durationMs: number | null;
  /** As in `BashResult`; `null` where `durationMs` is. */
  usage: BashUsage | null;
  /** The silence that was the limit of the run (`idleTimeoutMs`); `null` if it was not. */
  silence: {
    /** The longest silence that was allowed, in ms. */ms: number;
    /**
     * What the command waited for then, in words, without its output and the arguments of programs; `null` if it is
     * not known to have waited.
     */
    waitedFor: string | null;
  } | null;
  /** The numbers of changed files, and how complete the receipt is; `null` without a receipt. */
  receipt: (ChangeCounts & {
    state: Receipt['state'];
  }) | null;
  /** The verdict of its evidence; `null` without evidence, and for a task while it runs. */
  evidence: Evidence['verdict'] | null;
  /** The run whose result was given again in place of this one; `null` if the command ran. */
  reused: string | null;
  /** The file with the whole output, or the log of the task; `null` if there is none. It may be removed by now. */
  outputPath: string | null;
  /** The task that the run is, or has become; `null` if it is none. */
  taskId: string | null;
  /** The target that ran the command, whose paths these are; `null`: this machine. */
  target: string | null;
  /** The draft in which the command ran, or that it committed or discarded; `null`: none. */
  draft: string | null;
  /**
   * What the secrets of its confinement were used for, by secret and host; `[]` if they were not used. A task has it
   * from its end on. The requests are in `BashResult.confinement.secrets` alone.
   */
  secrets: {
    /** The name of the secret. */name: string; /** The host, with its port unless that is 443. */
    host: string; /** The number of requests. */
    count: number; /** The number of these into which the secret was not put. */
    refused: number;
  }[];
}
/** The entries that `readLedger` returns. Each filter that is given has to fit. */
interface ReadLedgerOptions {
  /**
   * Runs that started at this moment or later: a `Date`, or Unix time in ms.
   *
   * @default all
   * @example readLedger({ since: Date.now() - 3_600_000 });
   */
  since?: number | Date | undefined;
  /**
   * Runs that started before this moment: a `Date`, or Unix time in ms.
   *
   * @default all
   * @example readLedger({ until: new Date('2026-01-31') });
   */
  until?: number | Date | undefined;
  /**
   * Runs that started in this directory or below. A relative path is resolved against `process.cwd()`.
   *
   * @default all
   * @example readLedger({ cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * Runs of the agent with exactly this name.
   *
   * @default all
   * @example readLedger({ agent: 'reviewer' });
   */
  agent?: string | undefined;
  /**
   * Whether only failed runs count: runs with an exit code other than 0, and runs that were signaled, timed-out,
   * aborted, refused or lost.
   *
   * @default false
   * @example readLedger({ failed: true });
   */
  failed?: boolean | undefined;
  /**
   * Runs whose receipt lists this path or one below. A relative path is resolved against `process.cwd()`. A run without
   * a receipt never fits.
   *
   * @default all
   * @example readLedger({ changed: 'src' });
   */
  changed?: string | undefined;
  /**
   * Runs whose command contains this text. Case matters.
   *
   * @default all
   * @example readLedger({ text: 'npm publish' });
   */
  text?: string | undefined;
  /**
   * The run with this id.
   *
   * @default all
   * @example readLedger({ runId: result.runId });
   */
  runId?: string | undefined;
  /**
   * The largest number of entries, a whole number of at least 1.
   *
   * @default all
   * @example readLedger({ limit: 20 });
   */
  limit?: number | undefined;
  /**
   * Whether the oldest entry comes first, and then entries as they are written, until `signal` aborts. From then on a
   * run is returned when it starts, and again when it has ended.
   *
   * @default false
   * @example for await (const entry of readLedger({ follow: true, signal })) show(entry);
   */
  follow?: boolean | undefined;
  /**
   * Ends the iteration, without an error.
   *
   * @default none
   * @example readLedger({ follow: true, signal: AbortSignal.timeout(60_000) });
   */
  signal?: AbortSignal | undefined;
}
//#endregion
//#region ts/draft/types.d.ts
/** A `Draft`, as the option `draft` of a command names it. Another object is refused. */
interface DraftHandle {
  /** Its name for `openDraft({ id })`. */
  readonly id: string;
  /** The drafted directory. */
  readonly root: string;
  /** Ends what this process runs in the draft. */
  close(): Promise<void>;
}
/** What commands of a draft may use of this machine. It is in memory alone. */
type Credentials = Pick<ConfineOptions, 'secrets' | 'ssh'>;
/** Options of `openDraft`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
interface DraftOptions {
  /**
   * The directory that is drafted. A relative path is resolved against `process.cwd()`, and links are resolved. Your
   * home, a directory that holds it, and one that holds the root of another draft are `ERR_BASH_DRAFT` with the reason
   * `'root'`.
   *
   * @default the top of the repository of `process.cwd()`, or `process.cwd()`
   * @example await using draft = await openDraft({ root: '/srv/project' });
   */
  root?: string | undefined;
  /**
   * Opens a draft that exists, whichever process of this user has made it. A draft that does not exist, or has another
   * root, is `ERR_BASH_DRAFT` with the reason `'unknown'`. The other options but `dir`, `root`, and `secrets` and `ssh`
   * of `confine` count for new drafts alone.
   *
   * @default a new draft
   * @example await using draft = await openDraft({ id: 'd0c1f3a5b7e9' });
   */
  id?: string | undefined;
  /**
   * A name for people, at most 80 characters.
   *
   * @default none
   * @example await openDraft({ name: 'try the new parser' });
   */
  name?: string | undefined;
  /**
   * What else commands may do, as in `bash()`: hosts, hidden paths, caches. Commands of a draft are always confined.
   * They change files below the root, in a private `/tmp` and in caches alone, so `write`, `expose`, another `profile`
   * and a shared `tmp` are refused. With git `'none'` a git directory outside of the root is not drafted, and is only
   * read. `secrets` and `ssh` are this process's own and never on the disk: another one that opens the draft by its
   * `id` gives others, or none. A fork has them.
   *
   * @default {}
   * @example await openDraft({ confine: { network: { allow: ['registry.npmjs.org'] } } });
   */
  confine?: ConfineOptions | undefined;
  /**
   * The TCP ports of the draft's loopback that this machine reaches, at most 64, or `'auto'`: each one at which a
   * server listens. `Draft.port` says where. Each draft has a loopback of its own: servers of several drafts may have
   * the same port. With network `'full'` there is no such loopback, and it is refused.
   *
   * @default none
   * @example await openDraft({ expose: [3000] });
   */
  expose?: number[] | 'auto' | undefined;
  /**
   * How long the draft is kept: `'process'` until no process has it open, or so many days after its last command. A
   * draft that is open is kept.
   *
   * @default { days: 7 }
   * @example await openDraft({ keep: 'process' });
   */
  keep?: 'process' | {
    days: number;
  } | undefined;
  /**
   * The most bytes that its changes may take on the disk, a whole number of at least 1. A command that goes over it, or
   * that leaves less than a tenth of the disk, is ended with a note, and one file cannot be larger. As long as the
   * draft is over it, no further command begins: `ERR_BASH_DRAFT`, reason `'space'`.
   *
   * @default 8_589_934_592 (8 GiB)
   * @example await openDraft({ maxBytes: 512 * 1024 ** 2 });
   */
  maxBytes?: number | undefined;
  /**
   * The directory of all drafts, never inside of the root. If it is not on the mount of the root, changes are kept in a
   * directory `.agent-bash-drafts-UID` on that mount, as far up as you may write; if the mount begins at the root, they
   * are kept here, and a commit copies them.
   *
   * @default `$XDG_STATE_HOME/agent-bash/drafts`, else `~/.local/state/agent-bash/drafts`
   * @example await openDraft({ root: '/srv/project', dir: '/srv/.drafts' });
   */
  dir?: string | undefined;
}
/** Options of `drafts`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
interface ListDraftsOptions {
  /**
   * Only drafts of this directory. A relative path is resolved against `process.cwd()`.
   *
   * @default all drafts
   * @example const [newest] = await drafts({ root: '.' });
   */
  root?: string | undefined;
  /**
   * The directory of all drafts, as in `DraftOptions`.
   *
   * @default the user's own
   * @example const found = await drafts({ dir: '/srv/.drafts' });
   */
  dir?: string | undefined;
}
/** The options that say which paths of a draft are meant. */
interface DraftPaths {
  /**
   * Only these paths and, for directories, everything below, relative to the root or absolute. A path that is not below
   * the root is `ERR_BASH_INVALID_ARG`.
   *
   * @default the whole draft
   * @example await draft.commit({ paths: ['src'] });
   */
  paths?: string[] | undefined;
}
/** Options of `Draft.changes`. */
interface DraftChangesOptions extends DraftPaths {
  /**
   * The most entries of each list, a whole number of at least 0. `counts` has all.
   *
   * @default 100
   * @example const { created } = await draft.changes({ list: 1000 });
   */
  list?: number | undefined;
}
/** Options of `Draft.diff`. */
interface DraftDiffOptions extends DraftPaths {
  /**
   * Unchanged lines around each change, a whole number of at least 0.
   *
   * @default 3
   * @example const patch = await draft.diff({ context: 10 });
   */
  context?: number | undefined;
  /**
   * The most bytes of the patch, a whole number of at least 1. Files beyond it are counted at its beginning.
   *
   * @default 1_048_576 (1 MiB)
   * @example const patch = await draft.diff({ maxBytes: 20_000 });
   */
  maxBytes?: number | undefined;
}
/** Options of `Draft.read`. */
interface DraftReadOptions {
  /**
   * The side: the file as commands of the draft see it, or as it is outside.
   *
   * @default 'draft'
   * @example const before = await draft.read('src/a.ts', { side: 'base' });
   */
  side?: 'draft' | 'base' | undefined;
}
/** Options of `Draft.commit`. */
interface DraftCommitOptions extends DraftPaths {
  /**
   * What happens if a path was changed beside the draft: `'stop'` commits nothing, `'skip'` leaves such paths in the
   * draft. `'merge'` merges files of lines three ways, as `git merge-file` does, and is `'stop'` for all other paths:
   * files over 1 MiB, files in `.git`, files of which both have changed the same or touching lines, and files that were
   * changed outside before the first command that changed them had ended.
   *
   * @default 'stop'
   * @example const { skipped } = await draft.commit({ onConflict: 'skip' });
   */
  onConflict?: 'stop' | 'skip' | 'merge' | undefined;
  /**
   * Whether the commit only reports its effect and changes nothing.
   *
   * @default false
   * @example const { conflicts } = await draft.commit({ dryRun: true });
   */
  dryRun?: boolean | undefined;
}
/** A path, with a reason in a few words. */
interface PathReason {
  /** The absolute path. */
  path: string;
  /** The reason. */
  why: string;
}
/** What a draft has changed. Paths are absolute, and lists are sorted and cut as in a receipt. `.git` is in no list. */
interface DraftChanges {
  /** Files and directories that the draft has and its root has not. */
  created: Change[];
  /** Files with other contents, and files and directories with another mode, owner or attributes. */
  modified: Change[];
  /** Files and directories that the draft has removed. */
  deleted: Change[];
  /** Files and directories that have another path in the draft. */
  renamed: Rename[];
  /** Numbers of all changes, including those that are not listed. */
  counts: ChangeCounts;
  /** Bytes on the disk of what the draft has changed. */
  bytes: number;
  /** The paths that both the draft and someone outside have changed. */
  conflicts: PathReason[];
  /** Repositories of which the draft has changed files of git, as in a receipt. Objects and logs do not count. */
  git: GitChange[];
}
/** The effect of a commit, or of a dry run. */
interface Committed {
  /** The paths that were changed, sorted. A directory that was moved as a whole is one of them. */
  applied: string[];
  /** The paths that stay in the draft. */
  skipped: PathReason[];
  /** With `'stop'`: why nothing was committed. `keptAt` is the file that has the draft's side, or `null`. */
  conflicts: (PathReason & {
    keptAt: string | null;
  })[];
  /** Names the commit, which `undo(undoId)` takes back. `''` if nothing was changed. */
  undoId: string;
}
/** A draft on the disk. */
interface DraftInfo {
  /** Its name for `openDraft({ id })`. */
  id: string;
  /** The name for people, or `null`. */
  name: string | null;
  /** The drafted directory, absolute and without links. */
  root: string;
  /** When it was opened first, Unix time in ms. */
  createdAt: number;
  /** When its last command began, Unix time in ms. */
  usedAt: number;
  /** Bytes on the disk of what it has changed. */
  bytes: number;
  /** Numbers of its changes. */
  counts: ChangeCounts;
  /** `'committing'`: a commit was killed, and whoever opens the draft finishes it. */
  state: 'open' | 'committing';
  /** The number of commands that have begun in it. */
  runs: number;
  /** Who asked for its first command of which that is known; `null` if nobody was named. */
  actor: Actor | null;
  /** The processes that have it open. */
  hosts: number[];
}
//#endregion
//#region ts/fleet/types.d.ts
/** A place that a provider has made. */
interface ProvidedTarget {
  /** The name of the place, which replaces `address.name`. `release` is called with it. */
  id: string;
  /** How the place is reached. */
  address: TargetAddress & ConnectOptions;
  /** When the place ends by itself, in ms since the epoch. `null`: it stays until it is released. */
  expiresAt: number | null;
  /** Moves `expiresAt` to `until`, in ms since the epoch. Without it, the place ends at `expiresAt`. */
  renew?(until: number): Promise<void>;
}
/** Makes places for a pool, such as pods and jobs of a cluster. */
interface TargetProvider {
  /**
   * Makes a place. `affinity` is that of the call which asks for it. `signal` is aborted when nobody waits for the
   * place any longer; nothing of it may be left then. A place that is returned all the same is released.
   */
  acquire(request: {
    affinity: string | null;
    signal: AbortSignal;
  }): Promise<ProvidedTarget>;
  /**
   * Ends a place. `broken`: it was lost or could not be reached. The pool calls it once for each place.
   */
  release(id: string, how: {
    broken: boolean;
  }): Promise<void>;
}
/** Options of a `TargetPool`. It has `targets`, a `provider` or both. */
interface TargetPoolOptions {
  /**
   * Machines of the pool. An address is connected when a run is placed there, and closed with the pool. A `Target` of
   * `connect` is left open.
   *
   * @default []
   * @example new TargetPool({ targets: [{ ssh: 'build1' }, { ssh: 'build2', cwd: 'project' }] });
   */
  targets?: (Target | (TargetAddress & ConnectOptions))[] | undefined;
  /**
   * Makes further places when all are full.
   *
   * @default none
   * @example new TargetPool({ provider: agentSandboxes({ warmPool: 'agents' }), max: 20 });
   */
  provider?: TargetProvider | undefined;
  /**
   * Places of the provider that are kept though nobody uses them, a whole number from 0 to 10,000.
   *
   * @default 0
   * @example new TargetPool({ provider, min: 2 });
   */
  min?: number | undefined;
  /**
   * The most places of the provider at once, a whole number from 1 to 10,000.
   *
   * @default 8
   * @example new TargetPool({ provider, max: 50 });
   */
  max?: number | undefined;
  /**
   * Runs on one place at once, a whole number from 1 to 1,024. Further ones wait.
   *
   * @default 4
   * @example new TargetPool({ targets, perTarget: 16 });
   */
  perTarget?: number | undefined;
  /**
   * The longest wait for a place, in ms, a whole number from 0 to 86,400,000. Then the call rejects with
   * `ERR_BASH_TARGET`, reason `timeout`. With 0 a call that would wait rejects at once.
   *
   * @default 60_000
   * @example new TargetPool({ targets, queueMs: 10_000 });
   */
  queueMs?: number | undefined;
  /**
   * Time without a run after which a place of the provider is released, in ms, a whole number from 0 to 86,400,000.
   *
   * @default 300_000
   * @example new TargetPool({ provider, idleMs: 60_000 });
   */
  idleMs?: number | undefined;
}
/** A place of a pool, as `stats()` returns it. */
interface PlaceStats {
  /** The name of the target. */
  id: string;
  /** The state of its target. `'new'`: it was not connected yet. `'draining'`: it takes no new runs. */
  state: TargetState | 'new' | 'draining';
  /** Runs on it now. */
  running: number;
  /** Calls that wait for it. Those that may run anywhere count at each place. */
  queued: number;
  /** The first number of /proc/loadavg there, as the last heartbeat told. 0: not known. */
  load: number;
  /** The memory that programs there can still get (`MemAvailable`), in bytes. 0: not known. */
  memoryFree: number;
  /** When the place is tried again after failed connections, in ms since the epoch. `null`: it is not avoided. */
  brokenUntil: number | null;
}
/** What a `TargetPool` does, which is given as `target` wherever a `Target` is. */
interface Fleet extends AsyncDisposable {
  /** Takes a place, connected, until `release()`. */
  acquire(options?: {
    affinity?: string | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<{
    target: Target;
    release(): void;
  }>;
  /** Places nothing new on a place, and closes it once its runs have ended. */
  drain(id: string): Promise<void>;
  /** The places and how busy they are. */
  stats(): PlaceStats[];
  /** Closes what the pool has connected. */
  close(): Promise<void>;
}
//#endregion
//#region ts/reduce/types.d.ts
/** How far a reduction goes. See docs/tokens.md. */
interface ReduceOptions {
  /**
   * `'lossless'` folds repeats, and leaves nothing out. `'salient'` also leaves out the lines that say least,
   * until the rest is within the budget.
   *
   * @default 'lossless'
   * @example reduceText(log, { level: 'salient' });
   */
  level?: 'lossless' | 'salient' | undefined;
  /**
   * The tokens that a view with `level: 'salient'` keeps within, by estimate. An output that reports a failure gets
   * four times as many, and lines that must stay are shown in any case.
   *
   * @default 1000
   * @example reduceText(log, { level: 'salient', budgetTokens: 500 });
   */
  budgetTokens?: number | undefined;
  /**
   * Files with your own rules for single tools, in the format of docs/tokens.md. They apply with `level: 'salient'`, in
   * addition to the shipped rules, such as the rule that leaves out the passed tests of pytest. A rule with the name of
   * a shipped rule replaces it. The files are read once per call. A file that cannot be read or used is
   * `ERR_BASH_INVALID_ARG`, with the file, the line and the reason. `false`: no rule applies.
   *
   * @default the shipped rules alone
   * @example reduceText(log, { level: 'salient', rules: ['rules/deploy.toml'] });
   */
  rules?: readonly string[] | false | undefined;
  /**
   * Lines that must stay: lines that contain one of these texts or match one of these expressions.
   *
   * @default none but failures and the last ten lines
   * @example reduceText(log, { level: 'salient', keep: ['checksum', /^deployed to /] });
   */
  keep?: readonly (string | RegExp)[] | undefined;
}
/** Options of `reduceText`. */
interface ReduceTextOptions extends ReduceOptions {
  /**
   * The command that printed the text. Contents of files and differences stay as they are, and rules know whose output
   * it may be.
   *
   * @default not known
   * @example reduceText(stdout, { command: 'npm test' });
   */
  command?: string | undefined;
  /**
   * Its exit code, `null` if a signal or a limit ended it.
   *
   * @default not known
   * @example reduceText(stdout, { command: 'npm test', exitCode: 1 });
   */
  exitCode?: number | null | undefined;
  /**
   * Its standard error.
   *
   * @default ''
   * @example reduceText(stdout, { stderr });
   */
  stderr?: string | undefined;
}
/** Lines of an output that a view does not show, or not whole. */
interface ElidedLines {
  stream: 'stdout' | 'stderr';
  /** The first of the lines, from 1, in the stream. */
  fromLine: number;
  toLine: number;
  /** `'budget'`, `'long'` for the middle of a long line, `'seen'`, or the name of a rule. */
  why: string;
}
/** The text that a model reads in place of an output. */
interface View {
  text: string;
  /** The tokens of the output and of the text, by estimate. */
  tokens: {
    before: number;
    after: number;
  };
  /**
   * `'exact'`: contents that a model edits or compares. `'red'`: something failed. `'green'`: all the rest.
   */
  class: 'exact' | 'red' | 'green';
  elided: ElidedLines[];
  /** The folds and rules that were used. */
  rules: string[];
  /** The number with which a model recalls the whole, 0 if it cannot. */
  id: number;
  /** The file with the whole, on the target of the command if it has one; `null` if no single file has it. */
  path: string | null;
}
//#endregion
//#region ts/core/stale.d.ts
/** A file that the model has read, and that a run has changed since. */
interface StaleFile {
  /** The path, as `knownFiles` has it. */
  path: string;
  /** `'modified'`: it has other contents. `'deleted'`: it is gone. `'renamed'`: it has another path. */
  change: 'modified' | 'deleted' | 'renamed';
}
//#endregion
//#region ts/registry/types.d.ts
/** A task, its id, or its pid. */
type TaskName = Pick<BackgroundTask, 'id'> | string | number;
/** A `BackgroundRegistry`, as the option `registry` of a command names it. Another object is refused. */
interface TaskRegistry {
  /** Returns all tasks as they are now. */
  list(): BackgroundTask[];
  /** Ends the registry. */
  close(): Promise<void>;
}
/** How a `BackgroundRegistry` keeps its tasks. */
interface BackgroundRegistryOptions {
  /**
   * The machine that runs the tasks, or a `TargetPool`, which chooses one at the first call. `dir` is a path there, and
   * relative ones begin in its directory.
   *
   * @default this machine
   * @example new BackgroundRegistry({ target, dir: '.tasks' });
   */
  target?: Target | Fleet | undefined;
  /**
   * With a pool: the registry is where calls with the same text run.
   *
   * @default a place of its own
   * @example new BackgroundRegistry({ target: pool, affinity: 'chat-7' });
   */
  affinity?: string | undefined;
  /**
   * The directory of tasks that outlive this process, made with mode 0700 if it is missing. A relative path is resolved
   * against `process.cwd()`.
   *
   * @default a temporary one, which is removed with `close()` or this process, and the tasks with it
   * @example new BackgroundRegistry({ dir: '/home/ann/.agent/tasks' });
   */
  dir?: string | undefined;
  /**
   * The most tasks that may run at once, a whole number of at least 1. At that number a start is refused with
   * `ERR_BASH_TOO_MANY_TASKS`, and a command that would move to the background at its limit is killed, with a note.
   *
   * @default 64
   * @example new BackgroundRegistry({ maxTasks: 4 });
   */
  maxTasks?: number | undefined;
  /**
   * The most that a log may hold, in bytes, a whole number of at least 1. Later output is dropped, with a note in the
   * log, and the task goes on.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example new BackgroundRegistry({ maxLogBytes: 50 * 1024 ** 2 });
   */
  maxLogBytes?: number | undefined;
  /**
   * How long an ended task and its log are kept, in ms after its end, a whole number of at least 0.
   *
   * @default 604_800_000 (7 days)
   * @example new BackgroundRegistry({ retentionMs: 3_600_000 });
   */
  retentionMs?: number | undefined;
  /**
   * The reach of tasks that `start` starts, as in `bash()`, unless a task has its own `confine`. The root of the
   * profile is the directory of each task.
   *
   * @default 'off'
   * @example new BackgroundRegistry({ confine: 'workspace' });
   */
  confine?: ConfineSetting | undefined;
  /**
   * The draft of tasks that `start` starts, as in `bash()`, unless a task has its own `draft`. They have the
   * confinement of the draft.
   *
   * @default none
   * @example new BackgroundRegistry({ draft: await openDraft() });
   */
  draft?: DraftHandle | undefined;
}
/** One check of a task. */
interface BackgroundCheck extends Omit<NativeCheck, 'evidence'> {
  /**
   * What the parts of the task's command returned. `null` while the task runs, without the option `evidence`, and if
   * the process that started the task is gone or is another one.
   */
  evidence: Evidence | null;
  /**
   * The files of the option `knownFiles` that the task changed, by its receipt, at most 100. `null` while the task
   * runs. `[]` without the option or without a receipt, and if another process started the task.
   */
  stale: StaleFile[] | null;
}
/** Options of `BackgroundRegistry.check`. */
interface BackgroundCheckOptions {
  /**
   * An offset in the log, in bytes, a whole number of at least 0. The registry's own position does not change.
   *
   * @default the registry's own place, which the check moves
   * @example await registry.check(task.id, { cursor: 0 });
   */
  cursor?: number | undefined;
}
/** The events that end `BackgroundRegistry.wait`, in addition to the end of the task. */
interface BackgroundWaitOptions {
  /**
   * How long to wait, in ms, a whole number of at least 0.
   *
   * @default no limit
   * @example await registry.wait(task.id, { timeoutMs: 10_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * Text in the unread output of the task, or in its output from now on. A string is the source of a regular
   * expression; the flags `g` and `y` of a `RegExp` have no meaning. A pattern that the engine does not support is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default none
   * @example await registry.wait(task.id, { pattern: /listening on port \d+/ });
   */
  pattern?: string | RegExp | undefined;
  /**
   * A TCP port of this machine, 1 to 65,535, that accepts a connection.
   *
   * @default none
   * @example await registry.wait(task.id, { port: 3000 });
   */
  port?: number | undefined;
  /**
   * Ends the wait, which then resolves with the output so far. The task goes on.
   *
   * @default none
   * @example await registry.wait(task.id, { signal: controller.signal });
   */
  signal?: AbortSignal | undefined;
}
//#endregion
//#region ts/safety/types.d.ts
/** Changes to the way in which commands are judged. */
interface SafetyOptions {
  /**
   * Rules by their id: turned off, or set to another level. An unknown id is `ERR_BASH_INVALID_ARG`. At `'deny'` only
   * an exact finding denies. A less certain finding asks.
   *
   * @default {}
   * @example await bash('git add -A', { safety: { rules: { 'git-blind-add': 'off' } } });
   */
  rules?: Record<string, 'off' | 'warn' | 'ask' | 'deny'> | undefined;
  /**
   * Programs of your own that run other commands, by name. The commands that they run are judged too.
   *
   * @default {}
   * @example await bash('with-retries rm -rf build', { safety: { wrappers: { 'with-retries': 'exec-rest' } } });
   */
  wrappers?: Record<string, WrapperKind> | undefined;
  /**
   * The treatment of a command about which a person would be asked: `'allow'` runs it with a note, `'deny'`
   * refuses it like a denied one. What an approval of this package lets run runs, unless this is `'deny'`.
   *
   * @default 'allow' for `bash`, sessions and registries; 'deny' in tools for models, MCP and adapters of frameworks
   * @example await bash('git clean -fd', { safety: { onAsk: 'deny' } });
   */
  onAsk?: 'allow' | 'deny' | undefined;
}
/** Options of `analyze`. */
interface AnalyzeOptions extends SafetyOptions {
  /**
   * The directory in which the command would start. It need not exist. A relative one is resolved against
   * `process.cwd()`.
   *
   * @default process.cwd()
   * @example analyze('rm -rf build', { cwd: '/home/ann/project' });
   */
  cwd?: string | undefined;
  /**
   * All variables that the command would see; `undefined` counts as not set.
   *
   * @default process.env
   * @example analyze('rm -rf "$BUILD"', { env: { BUILD: '/tmp/build' } });
   */
  env?: Record<string, string | undefined> | undefined;
  /**
   * The home directory of the user.
   *
   * @default `HOME` of `env`, else the user's home according to the system
   * @example analyze('rm -rf ~', { home: '/home/ann' });
   */
  home?: string | undefined;
}
/** The rules of `decide`. */
interface DecideRules {
  /**
   * Commands and files that are allowed. With this list, everything else is asked about, except commands that only
   * read: `'read-only'` is a rule that every list has. It also covers builtins that affect nothing but their shell
   * (`cd`, `true`, `export`, `[`) and git commands that read, although a repository's settings may make them run a
   * program. With an empty list, every command is asked about.
   *
   * @default none: the analysis alone allows
   * @example decide(analysis, { allow: ['git log:*', 'npm test', 'write:src/**'] });
   */
  allow?: string[] | undefined;
  /**
   * Commands and files about which a person is asked. `'read-only'` here asks about commands that only read, too.
   *
   * @default []
   * @example decide(analysis, { ask: ['git push:*'] });
   */
  ask?: string[] | undefined;
  /**
   * Commands and files that are refused.
   *
   * @default []
   * @example decide(analysis, { deny: ['terraform destroy:*'] });
   */
  deny?: string[] | undefined;
}
//#endregion
//#region ts/output.d.ts
/**
 * The part of a stream that is kept: its end, its beginning, or both ends. Limits are whole numbers of at least 1. A
 * limit that is left out does not hold, but at most 16 MiB are kept in any case.
 */
type Truncate = {
  /**
   * Which part is kept, up to the limit that is reached first: whole lines of
   * the end, or the beginning, which may end inside a line.
   *
   * @example await bash('npm test', { truncate: { keep: 'head', maxLines: 100 } });
   */
  keep: 'tail' | 'head';
  /**
   * Lines.
   *
   * @default no limit
   * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
   */
  maxLines?: number | undefined;
  /**
   * Bytes of UTF-8.
   *
   * @default no limit but 16 MiB
   * @example await bash('npm test', { truncate: { keep: 'tail', maxBytes: 20_000 } });
   */
  maxBytes?: number | undefined;
  /**
   * UTF-16 units, as JavaScript counts characters.
   *
   * @default no limit
   * @example await bash('npm test', { truncate: { keep: 'head', maxChars: 30_000 } });
   */
  maxChars?: number | undefined;
} | {
  /**
   * Both ends of a stream that is longer than `maxBytes`. `headBytes` and `tailBytes` together are at most
   * `maxBytes`.
   *
   * @example await bash('npm test', { truncate: TRUNCATE.ends });
   */
  keep: 'ends';
  /**
   * Bytes of UTF-8 up to which a stream stays whole.
   *
   * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
   * });
   */
  maxBytes: number;
  /**
   * Bytes that are kept of the beginning of a longer stream.
   *
   * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
   * });
   */
  headBytes: number;
  /**
   * Bytes that are kept of the end of a longer stream.
   *
   * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
   * });
   */
  tailBytes: number;
};
//#endregion
//#region ts/schema/types.d.ts
/** Options that cross to the addon as they are. */
interface NativeOptions {
  /**
   * Positional parameters of the command, `$1` and on.
   *
   * @default []
   * @example await bash('printf "%s\n" "$1"', { args: ["it's data"] });
   */
  args?: string[] | undefined;
  /**
   * Which variables of `process.env` the command inherits: `'safe'` all but secrets, `'all'`, `'none'`, or exactly
   * these names.
   *
   * @default 'safe'
   * @example await bash('env', { inheritEnv: ['PATH', 'HOME'] });
   */
  inheritEnv?: 'safe' | 'all' | 'none' | string[] | undefined;
  /**
   * The time limit by kind of work: `'default'` 30 s (120 s if the command then moves to the background), `'slow'` 15
   * min. `'background'` starts the command as a task and resolves at once with status `'backgrounded'`; its limit is 24
   * h.
   *
   * @default 'default'
   * @example await bash('cargo build --release', { mode: 'slow' });
   */
  mode?: 'default' | 'slow' | 'background' | undefined;
  /**
   * The time limit in ms, counted from the start of the process. It replaces the limit of `mode`. A whole number from 1
   * to 86,400,000.
   *
   * @default the limit of `mode`
   * @example await bash('npm ci', { timeoutMs: 300_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * The longest time without output, in ms. A command that is silent for this long is at its time limit, and a note
   * reports this. The time counts from the start and from each output on either stream. Any byte is output, also a
   * carriage return or an escape sequence that `sanitize` removes. A task that was started in the background is ended.
   * A command that has moved to the background may be silent. The limit never counts in a terminal. A whole number from
   * 1 to 86,400,000.
   *
   * @default none
   * @example await bash('npm ci', { mode: 'slow', idleTimeoutMs: 60_000 });
   */
  idleTimeoutMs?: number | undefined;
  /**
   * The reaction to the limit, of time or of silence: `'kill'` ends the whole process tree, `'background'` turns the
   * command into a task, and the promise resolves with the output so far.
   *
   * @default 'background' with a `registry`, else 'kill'
   * @example await bash('npm run dev', { onTimeout: 'background' });
   */
  onTimeout?: 'kill' | 'background' | undefined;
  /**
   * Time from SIGTERM to SIGKILL, in ms, when the tree is ended. A whole number from 0 to 15,000.
   *
   * @default 2_000
   * @example await bash('./server', { timeoutMs: 5_000, graceMs: 10_000 });
   */
  graceMs?: number | undefined;
  /**
   * Whether both streams share one pipe, in the order of writing. All output is then in `stdout`.
   *
   * @default false
   * @example await bash('make', { merge: true });
   */
  merge?: boolean | undefined;
  /**
   * The part of each stream that is kept.
   *
   * @default TRUNCATE.tail
   * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
   */
  truncate?: Truncate | undefined;
  /**
   * Whether escape sequences and control characters are removed and progress lines collapse. `true` is `{ ansi: true,
   * progress: 'collapse' }`.
   *
   * @default true
   * @example await bash('ls --color=always', { sanitize: { ansi: false } });
   */
  sanitize?: boolean | SanitizeOptions | undefined;
  /**
   * Whether a stream that passes its limit in bytes or characters is also written to a private file as a whole.
   *
   * @default true
   * @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
   */
  spill?: boolean | SpillOptions | undefined;
  /**
   * Time between two calls of `onSnapshot`, in ms. A whole number from 10 to 60,000.
   *
   * @default 250
   * @example await bash('npm test', { onSnapshot: draw, snapshotIntervalMs: 1_000 });
   */
  snapshotIntervalMs?: number | undefined;
  /**
   * The shell: a path, or a name on the PATH of `process.env`. A missing shell is `ERR_BASH_SHELL_NOT_FOUND`.
   *
   * @default 'bash'
   * @example await bash('print -r -- $ZSH_VERSION', { shell: 'zsh' });
   */
  shell?: string | undefined;
  /**
   * Whether the command has the user's own aliases, functions, options and PATH: `true` reads the rc files of the user,
   * a path that file alone. A relative path is resolved against `process.cwd()`. Files are read once, for at most 10 s,
   * and again when they change. If that fails, the command runs without them, with a note.
   *
   * @default false
   * @example await bash('ll', { snapshot: true });
   */
  snapshot?: boolean | string | undefined;
  /**
   * Whether a shell that has already started may run the command if no command could tell the difference.
   * `AGENT_BASH_WARM=0` in the host's environment turns this off.
   *
   * @default true
   * @example await bash('true', { warm: false });
   */
  warm?: boolean | undefined;
  /**
   * Limits in addition to the time limit. A note names a limit that was exceeded.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3, cpuSeconds: 600 } });
   */
  limits?: BashLimits | undefined;
  /**
   * Whether `result.receipt` lists the command's changes: files, directories, ports and git repositories.
   *
   * `'watch'` does not affect the command: this process follows the directories of the repository of `cwd` (or of
   * `cwd`). It does not see other places, and lists what changed while the command ran. `'exact'` records every change
   * of the command's own processes, wherever it is, before it happens. The command then runs without new privileges. A
   * command that calls `sudo` gets `'watch'` instead, with a note, and so does every command on macOS.
   *
   * A command that starts a background task has its receipt in `BackgroundCheck`.
   *
   * @default 'off'
   * @example const { receipt } = await bash('npm test', { receipt: 'watch' });
   */
  receipt?: 'off' | 'watch' | 'exact' | undefined;
  /**
   * Whether the files that the command changes are kept, so that `undo(result.runId)` can take the changes back.
   * `'risky'` keeps the files of commands whose verdict is warn or ask, and of commands that are known to delete files
   * or to overwrite what exists. `'always'` keeps the files of each command. Such a command has a receipt, `'exact'`.
   *
   * `result.undo` says whether the undo covers all files. No undo is kept for a command in `/` or in the home directory
   * itself. An object sets details, and with `require` refuses a command whose undo would not cover everything:
   * `ERR_BASH_UNDO`.
   *
   * @default 'off'
   * @example const { runId } = await bash('git clean -fd', { undo: 'risky' });
   */
  undo?: 'off' | 'risky' | 'always' | UndoOptions | undefined;
  /**
   * Whether `result.evidence` has the end of each part of the command, and the failures that its exit code hides, as
   * that of `npm test | tail -5` hides failing tests. The command is not changed. `'status'` watches the command's
   * shell. `'tree'` also watches the tree of `cwd`, up to the top of its repository, and says what changed since a
   * check passed.
   *
   * A command in the background has its evidence in `BackgroundCheck`, once it has ended.
   *
   * @default 'off'; 'status' for the tools for models and MCP
   * @example const { evidence } = await bash('npm test 2>&1 | tail -5', { evidence: 'status' });
   */
  evidence?: 'off' | 'status' | 'tree' | undefined;
  /**
   * Whether the whole output of a pipeline's first program is kept, as that of `npm test` in `npm test | tail -5`:
   * `result.evidence.tap` says where. The command is not changed: what the program writes flows through this process.
   * It needs `evidence`, a pipeline that is the whole command, alone or behind `cd X &&`, and as its first element one
   * simple command that is worth it: no `cat`, `grep` or `git log`.
   *
   * At most `spill.maxBytes` are kept, and no more than the store of outputs holds, until it needs the room or this
   * process ends. `evidence.tests` counts the tests in the whole output. Commands in a terminal and in the background
   * have no tap.
   *
   * @default 'off'; 'on' for `createBashTool` and MCP, unless they have `onAfterRun`, which does not see what is
   * kept
   * @example const { evidence } = await bash('npm test | tail -5', { evidence: 'status', taps: 'on' });
   */
  taps?: 'off' | 'on' | undefined;
  /**
   * Rules that name more commands that are checks, as `allow` of `decide` has them: `'./ci.sh'` names this command
   * without other words, `'task verify:*'` all that begin with these words. Known test runners, linters, type checkers
   * and builds are checks anyway. Their runs are in `evidence.checks` and `listChecks`. A rule that names no command is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default []
   * @example await bash('./ci.sh', { evidence: 'status', checks: ['./ci.sh'] });
   */
  checks?: string[] | undefined;
  /**
   * Whether a stored result may be given in place of a run: that of the same command in this process, if nothing that
   * it depends on is known to have changed since. `result.reused` labels it. The command runs if in doubt, and with
   * `fresh`. With `taps` the output that a program wrote also goes through other filters: after `npm test | tail`, that
   * of `npm test | grep FAIL`. An object sets details. It implies `evidence: 'tree'`.
   *
   * Commands that only read may be given again, those that `commands` names, and those whose confinement reaches no
   * host and writes inside of the tree only. A command in a terminal or in the background always runs, and so does one
   * whose streams an adapter reads and writes while it runs.
   *
   * @default 'off'
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'] } });
   */
  reuse?: 'off' | 'verified' | ReuseOptions | undefined;
  /**
   * Whether the command runs whatever `reuse` has stored. Its result may be given again later.
   *
   * @default false
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'] }, fresh: true });
   */
  fresh?: boolean | undefined;
  /**
   * Whether the command has an entry in the ledger, the record on disk that `readLedger` and `agent-bash log` read. If
   * this option is left out, `AGENT_BASH_LEDGER`, `on` or `off`, decides. Secrets are taken out of the command. A
   * ledger that cannot be written costs the entry and never the command, and is a note once per process.
   *
   * @default false; true for the tools for models, MCP and `agent-bash run`
   * @example await bash('npm publish', { ledger: true });
   */
  ledger?: boolean | undefined;
  /**
   * The parties that ask for the command, for the ledger and for subscribers.
   *
   * @default none
   * @example await bash('npm test', { ledger: true, actor: { agent: 'reviewer', user: 'ada' } });
   */
  actor?: Actor | undefined;
}
/** Limits of a command in addition to its time limit. No limit can raise a limit of the system. */
interface BashLimits {
  /**
   * CPU time in seconds that all processes of the command may use together, a number above 0. Above the limit the tree
   * is ended: SIGTERM, `graceMs`, SIGKILL.
   *
   * @default none
   * @example await bash('npm test', { limits: { cpuSeconds: 0.5 } });
   */
  cpuSeconds?: number | undefined;
  /**
   * Memory in bytes that all processes of the command may hold together, shared memory counted once. Above the limit
   * the tree is ended at once by SIGKILL. A whole number of at least 65,536.
   *
   * @default none
   * @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3 } });
   */
  memoryBytes?: number | undefined;
  /**
   * How many processes the command may have at once, its shell included. Above the limit the tree is ended at once by
   * SIGKILL. A whole number of at least 1.
   *
   * @default none
   * @example await bash('make -j', { limits: { processes: 64 } });
   */
  processes?: number | undefined;
  /**
   * How many files each process may have open, standard streams included. The system refuses more (EMFILE). A whole
   * number of at least 1.
   *
   * @default none
   * @example await bash('./server', { limits: { openFiles: 256 } });
   */
  openFiles?: number | undefined;
  /**
   * How large in bytes a file may become by a write of the command. The system refuses more (SIGXFSZ, EFBIG). A whole
   * number of at least 1.
   *
   * @default none
   * @example await bash('./export', { limits: { fileBytes: 100 * 1024 ** 2 } });
   */
  fileBytes?: number | undefined;
}
/** Options of the re-use of results. */
interface ReuseOptions {
  /**
   * Rules that name commands whose results depend on nothing but their tree, as `checks` has them: the host vouches for
   * it. A command with a redirect into a file is not named by them.
   *
   * @default []
   * @example await bash('npm test', { reuse: { commands: ['npm test:*', './ci.sh'] } });
   */
  commands?: string[] | undefined;
  /**
   * The highest age of a result, in ms. A whole number of at least 1.
   *
   * @default 3_600_000 (1 h)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], maxAgeMs: 600_000 } });
   */
  maxAgeMs?: number | undefined;
  /**
   * The most bytes of all stored outputs; the oldest go first. An output of more than a quarter of it is not stored.
   * Most of it lies in files without names, which end with the process. A whole number of at least 1.
   *
   * @default 268_435_456 (256 MiB)
   * @example await bash('npm test', { reuse: { commands: ['npm test:*'], storeBytes: 16_777_216 } });
   */
  storeBytes?: number | undefined;
}
/** How output is cleaned. */
interface SanitizeOptions {
  /**
   * Whether escape sequences are removed.
   *
   * @default true
   * @example await bash('ls --color=always', { sanitize: { ansi: false } });
   */
  ansi?: boolean | undefined;
  /**
   * `'collapse'` shows a progress line as a terminal would in the end, `'keep'` delivers it as it comes.
   *
   * @default 'collapse'
   * @example await bash('curl -O https://example.com/file', { sanitize: { progress: 'keep' } });
   */
  progress?: 'collapse' | 'keep' | undefined;
}
/** Where whole output goes. */
interface SpillOptions {
  /**
   * The directory of the files, made with mode 0700 if it is missing.
   *
   * @default a private directory below `TMPDIR`
   * @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
   */
  dir?: string | undefined;
  /**
   * The most that a file may hold, in bytes. The file of a longer stream keeps the beginning. A whole number of at
   * least 1.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm test', { spill: { maxBytes: 10 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * Age in ms from which files of this package are removed when a new one is written. A whole number of at least 0.
   *
   * @default 604_800_000 (7 days)
   * @example await bash('npm test', { spill: { retentionMs: 3_600_000 } });
   */
  retentionMs?: number | undefined;
  /**
   * Gives the place in an artifact store of the host, when a stream overflows. `null` or a throw sets `spillError`, and
   * the command goes on.
   *
   * @default none: a file in `dir`
   * @example await bash('npm test', { spill: { allocate: (stream) => store.place(`${stream}.log`) } });
   */
  allocate?: ((stream: 'stdout' | 'stderr') => {
    id: string;
    path: string;
  } | null) | undefined;
}
/** `undo`, as given. */
interface UndoOptions {
  /**
   * The commands that can be undone. `'always'`: all commands. `'risky'`: commands whose verdict is warn or ask, and
   * commands that are known to delete files or to overwrite what exists (`rm`, `mv`, `sed -i`, `git checkout` …).
   *
   * @default 'risky'
   * @example await bash('make clean', { undo: { when: 'always' } });
   */
  when?: 'risky' | 'always' | undefined;
  /**
   * Whether a command whose undo would not cover all files is refused with `ERR_BASH_UNDO`. A file that turns out too
   * large while the command runs then fails to change (EDQUOT). Without it the command runs, and a note reports this.
   *
   * @default false
   * @example await bash('rm -rf build', { undo: { require: true } });
   */
  require?: boolean | undefined;
  /**
   * The largest file that is copied before it is written to, in bytes. A file that is only removed or replaced needs no
   * copy, and may be larger. A whole number of at least 1.
   *
   * @default 67_108_864 (64 MiB)
   * @example await bash('sed -i s/a/b/ big.csv', { undo: { maxFileBytes: 1024 ** 3 } });
   */
  maxFileBytes?: number | undefined;
  /**
   * The most that is kept for one run, in bytes. A whole number of at least 1.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm run format', { undo: { when: 'always', maxBytes: 100 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * The most that the store may take of the disk, in bytes. Files count in whole blocks, with their inodes. Before and
   * after a command, the oldest runs that exceed this size are removed; see `undoPoints`. A whole number of at least 1.
   *
   * @default 2_147_483_648 (2 GiB)
   * @example await bash('git clean -fd', { undo: { storeBytes: 500 * 1024 ** 2 } });
   */
  storeBytes?: number | undefined;
  /**
   * The directory of the store, made with mode 0700 if it is missing. An existing directory must be empty or a store. A
   * relative path is resolved against `process.cwd()`. `undo` and `undoPoints` need the same `dir`.
   *
   * @default `$XDG_STATE_HOME/agent-bash/undo`, else `~/.local/state/agent-bash/undo`
   * @example await bash('rm notes.txt', { undo: { dir: '/srv/agent/undo' } });
   */
  dir?: string | undefined;
}
//#endregion
//#region ts/types.d.ts
/**
 * Options of a command. Every option may be left out, and `undefined` counts as left out. An option that does not
 * exist is `ERR_BASH_INVALID_ARG`.
 */
interface CommandOptions<Registry extends TaskRegistry = TaskRegistry> extends NativeOptions {
  /**
   * The machine that runs the command, from `connect`, or a `TargetPool`, which chooses one. Paths, pids and users are
   * the target's, and relative paths begin in its directory. The login environment there takes the place of
   * `process.env`.
   *
   * @default this machine
   * @example await bash('make', { target: await connect({ ssh: 'build1' }) });
   */
  target?: Target | Fleet | undefined;
  /**
   * With a pool: calls with the same text run on the same place, where their files are. If that place is lost, the next
   * call rejects with `ERR_BASH_TARGET`, `lost`, once, unless a run of the affinity was lost with it.
   *
   * @default any place
   * @example await bash('make', { target: pool, affinity: 'chat-7' });
   */
  affinity?: string | undefined;
  /**
   * The draft in which the command runs, from `openDraft`: it sees the root of the draft at its own path, and what it
   * changes there is kept apart. `cwd` is the root unless `process.cwd()` lies below it. The draft has its own
   * confinement, so `confine`, `undo` and `target` beside it are `ERR_BASH_INVALID_ARG`. `reuse` and `evidence: 'tree'`
   * are `ERR_BASH_UNSUPPORTED`. A draft that is over is `ERR_BASH_DRAFT`.
   *
   * @default none
   * @example await bash('npm test', { draft: await openDraft() });
   */
  draft?: DraftHandle | undefined;
  /**
   * The directory in which the command starts. A relative path is resolved against `process.cwd()`. It must exist
   * (`ERR_BASH_CWD_NOT_FOUND`) and be a directory (`ERR_BASH_CWD_NOT_DIRECTORY`).
   *
   * @default process.cwd()
   * @example await bash('npm test', { cwd: '/home/ann/project' });
   */
  cwd?: string | undefined;
  /**
   * Variables laid over the inherited ones and over the unattended defaults. `null` or `undefined` removes a name.
   * Values never appear in an argument list, a log or an error.
   *
   * @default {}
   * @example await bash('make', { env: { CC: 'clang', MAKEFLAGS: null } });
   */
  env?: Record<string, string | null | undefined> | undefined;
  /**
   * Ends the whole tree when it is aborted. The promise then resolves with status `'aborted'`. A signal that was
   * aborted before the call starts nothing. A command that has moved to the background no longer listens to it.
   *
   * @default none
   * @example await bash('npm test', { signal: AbortSignal.timeout(60_000) });
   */
  signal?: AbortSignal | undefined;
  /**
   * The standard input of the command, which is closed at its end. A string is sent as UTF-8.
   *
   * @default `/dev/null`
   * @example await bash('jq .name', { stdin: JSON.stringify({ name: 'ann' }) });
   */
  stdin?: string | Uint8Array | undefined;
  /**
   * Receives every byte of both streams as sanitized text, in order, in batches of at most 64 KiB. One call is in
   * flight at a time, and a returned promise is waited for. A listener that throws or rejects is removed, and a note
   * says so. A command in the background does not call it: see `BackgroundRegistry.on`.
   *
   * @default none
   * @example await bash('npm test', { onOutput: ({ text }) => void process.stdout.write(text) });
   */
  onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
  /**
   * Receives a live view of the command: the last 8 KiB of each stream, the unfinished line included, after each
   * `snapshotIntervalMs` in which something changed. One call is in flight at a time. A listener that throws or rejects
   * is removed, and a note says so.
   *
   * @default none
   * @example await bash('npm test', { onSnapshot: ({ stdout }) => draw(stdout) });
   */
  onSnapshot?: ((snapshot: BashSnapshot) => void | Promise<void>) | undefined;
  /**
   * Called within 1 s, once for each prompt, when the command waits for input that only a person can give. `prompt.pid`
   * is the process that waits, of its terminal or of a pipe or FIFO without another writer, and `prompt.text` is the
   * line that the command has not ended (`Password: `), `''` if there is none.
   *
   * Blocked processes are seen on Linux alone, and a command that is only slow is not reported. A line that plainly
   * asks (for a password, for yes or no) is reported on every system, with the shell as its process if no other is seen
   * to wait. A listener that throws or rejects is removed, and a note says so. A command in the background does not
   * call it.
   *
   * @default none: processes are not scanned
   * @example await bash('sudo make install', { onPrompt: ({ text }) => notify(text) });
   */
  onPrompt?: ((prompt: BashPrompt) => void | Promise<void>) | undefined;
  /**
   * The place of tasks: commands that start in or move to the background, and processes that a command leaves running
   * with its output still open.
   *
   * @default none; tasks without a registry go to `defaultRegistry()`
   * @example await bash('npm run dev', { registry: new BackgroundRegistry() });
   */
  registry?: Registry | undefined;
  /**
   * How the command is judged before anything starts. `'default'` applies the unchanged rules. `'off'` judges nothing,
   * for hosts that judge elsewhere. An object lists the differences from the default. A denied command is
   * `ERR_BASH_BLOCKED`.
   *
   * @default 'default'
   * @example await bash('git clean -fd', { safety: { onAsk: 'deny' } });
   */
  safety?: 'default' | 'off' | SafetyOptions | undefined;
  /**
   * Words before the command. The shell runs `<prefix> <command>`, with one blank between, and that text is judged. The
   * prefix applies to the first line of a command alone.
   *
   * @default none
   * @example await bash('npm test', { prefix: 'nice -n 10' });
   */
  prefix?: string | undefined;
  /**
   * The reach of the command, whatever its text: which files it can read and change, which hosts it can reach, which
   * processes it can see. `'workspace'` lets it change files below `cwd` alone, with no network and no secrets of the
   * home. `'read-only'` lets it change no files at all. An object sets details. `'off'` confines nothing.
   *
   * Commands with equal confinement share a world: its loopback, its private `/tmp`, its processes. The commands of one
   * tool, session or registry share worlds, and so do plain calls of `bash()`. A confinement that this machine cannot
   * hold is `ERR_BASH_CONFINEMENT`, with `missing`, and nothing is started. `result.confinement` lists the parts that
   * were held and the denials.
   *
   * @default 'off'
   * @example await bash('npm test', { confine: 'workspace' });
   */
  confine?: ConfineSetting | undefined;
  /**
   * The absolute paths of files that the model has read. `result.stale` lists those that the command changed, by its
   * receipt, and a model reads `[changed since you read it: src/a.ts]`. A set may grow meanwhile, and a function is
   * called after each run whose receipt has changes. If it throws, that is a note.
   *
   * The option asks for no receipt by itself: without `receipt` or `undo` the list is empty.
   *
   * @default none
   * @example await bash('npx biome check --write', { receipt: 'watch', knownFiles: filesThatWereRead });
   */
  knownFiles?: Iterable<string> | (() => Iterable<string>) | undefined;
  /**
   * Whether `result.view` has the text that a model reads in place of `stdout` and `stderr`, which stay unchanged.
   * `'lossless'` folds repeats. `'salient'` also leaves out the lines that tell least: a marker replaces them, and the
   * whole output is first written to a file, which is removed with this process. No failure is left out. An object sets
   * details.
   *
   * A command in a terminal or in the background has no view. If a confined command could not read the file, nothing
   * is left out.
   *
   * @default 'off'
   * @example const { view, stdout } = await bash('npm test', { reduce: 'salient' });
   */
  reduce?: 'off' | 'lossless' | 'salient' | ReduceOptions | undefined;
}
/**
 * Options with which a command cannot go to the background and cannot be lost, so that its result has an exit code.
 */
type ForegroundOptions = { [Name in keyof CommandOptions]: Name extends 'registry' | 'target' ? undefined : Exclude<CommandOptions[Name], 'background'> };
//#endregion
//#region ts/result.d.ts
/** The fields that every result has. */
interface BashRun {
  /** Standard output as sanitized text, cut to its limits with a notice; with `merge` both streams. */
  stdout: string;
  /** Standard error, likewise; `''` with `merge`. */
  stderr: string;
  /**
   * The signal that really ended the shell (`'SIGKILL'`; `'SIG35'` for a signal without a name), after a time limit
   * too. `null` if the shell ended with an exit code.
   */
  signal: string | null;
  /** Process id of the shell, also its process group id; 0 if nothing was started. */
  pid: number;
  /** From the start of the shell to its end, in ms. */
  durationMs: number;
  /** The time limit that applied, in ms, counted from the start of the process; `null` if there was none. */
  timeoutMs: number | null;
  /** How each stream was cut. */
  truncation: BashTruncation;
  /**
   * Processes that the command left running after its shell ended. They go on. With a registry, those that still hold
   * the command's pipes become one task, whose log has the rest of their output. Without one their later writes go
   * nowhere.
   */
  survivors: Survivor[];
  /** The resources that its processes used. Those that it left running count up to the end of the shell. */
  usage: BashUsage;
  /** The parts that its confinement held, and the denials; `null` if it was not confined. */
  confinement: Confinement | null;
  /**
   * Permanent and unique name of the run: the value of `AGENT_BASH_ID` in the environment of its processes, and the
   * argument of `undo`.
   */
  runId: string;
  /** The changes of the command; `null` without the options `receipt` and `undo`, and if nothing was started. */
  receipt: Receipt | null;
  /** How much `undo(runId)` takes back; `null` if the run cannot be undone. */
  undo: UndoCoverage | null;
  /**
   * What the parts of the command returned. `null` without the option `evidence`, if the command goes on in the
   * background, and if it ran in a sandbox.
   */
  evidence: Evidence | null;
  /** The run whose result this is, with the option `reuse`; `null` if the command ran. */
  reused: Reused | null;
  /**
   * The files of the option `knownFiles` that the command changed, by its receipt, at most 100. `[]` without the option
   * or without a receipt.
   */
  stale: StaleFile[];
  /**
   * The text for a model with the option `reduce`. `null` without it, if nothing was gained, and if the command goes on
   * in the background. `stdout` and `stderr` are the same in any case.
   */
  view: View | null;
  /** Facts for the caller or the model, one per line. */
  notes: string[];
  /** The name of the target that ran the command, whose paths and pids these are; `null`: this machine. */
  target: string | null;
  /** The id of the draft in which the command ran; `null` outside of drafts. */
  draft: string | null;
}
/** The result of a command that has ended. */
interface BashEnded extends BashRun {
  /**
   * How the command ended: by itself, by a signal, at its time limit, or because its `signal` was aborted.
   */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted';
  /** 0 … 255; 128 + n after signal n, 124 after the time limit, 130 after an abort. */
  exitCode: number;
  /** `null`: the command is not a task. */
  background: null;
}
/** The result of a command that goes on as a task, with its output so far. */
interface BashBackgrounded extends BashRun {
  /** The command started in the background, or moved there at its limit. */
  status: 'backgrounded';
  /** `null`: the command has not ended. */
  exitCode: null;
  /** The task that the command is from now on. */
  background: BackgroundTask;
}
/**
 * The result of a command whose end is not known, with the output that `onOutput` has had. Only a command on a target
 * has it: the target was lost, or closed, while the command ran.
 */
interface BashLost extends BashRun {
  /** It is not known how the command ended. */
  status: 'lost';
  /** `null`: it is not known. */
  exitCode: null;
  /** `null`: it is not known. */
  signal: null;
  /** `null`: the command is not a task. */
  background: null;
}
/**
 * The end and the output of a command, a union on `status`. Plain own-property data: `structuredClone` and a JSON
 * round trip keep it whole.
 */
type BashResult = BashEnded | BashBackgrounded | BashLost;
//#endregion
//#region ts/observe/channels.d.ts
/** The kind of a run: a command of `bash()`, of a session or in a terminal, or a task in the background. */
type ObservedKind = 'command' | 'session' | 'terminal' | 'task';
/** The fields that all events of one run share. */
interface Observed {
  /** Names the run in this process. For a task, its id. */
  id: string;
  /** The kind of the run. */
  kind: ObservedKind;
  /** Process id of the shell; 0 in a `return` without a run. */
  pid: number;
  /** The name of the target that runs it, whose pids and paths these are; `null`: this machine. */
  target: string | null;
}
/**
 * `agent-bash:call`: a call that may start a run was made. It is published within the call, so a subscriber runs in the
 * asynchronous context of the caller. Each call has one `agent-bash:return`.
 */
interface ObservedCall {
  /** Names the call in this process, and its run unless that is a task. */
  id: string;
  /** The kind that the run will have. */
  kind: ObservedKind;
  /** The command as given, without the prefix. */
  command: string;
  /** The positional parameters, as in `args`. */
  args: string[];
  /** The parties that ask for the run; `null` if the call does not name them. */
  actor: Actor | null;
  /** The name of the target that is to run it; `null`: this machine. */
  target: string | null;
  /**
   * Empty. A subscriber may add variables for the command, and `null` removes one. None is added if the `env` of the
   * call names one of them.
   */
  env: Record<string, string | null>;
}
/** `agent-bash:return`: a call has settled. The `agent-bash:exit` of its run comes before. */
interface ObservedReturn extends Observed {
  /** As in a `BashResult`; `'backgrounded'` also for a started task. `null` if the call rejects. */
  status: BashResult['status'] | null;
  /** The task that the run is from now on. `null` if it is none. */
  taskId: string | null;
  /** The code of the error (`'ERR_BASH_CWD_NOT_FOUND'`) if the call rejects with a `BashError`. Otherwise `null`. */
  code: string | null;
}
/** `agent-bash:start`: a run has started. */
interface ObservedStart extends Observed {
  /** The command as given, without the prefix. */
  command: string;
  /** The positional parameters, as in `args`. Always empty for a task. */
  args: string[];
  /** The absolute directory in which the command runs. */
  cwd: string;
}
/** `agent-bash:output`: a run has written. */
interface ObservedOutput extends Observed {
  /** Always standard output for a terminal and a task. */
  stream: 'stdout' | 'stderr';
  /** Text that was cleaned by its options, at most 64 KiB. */
  text: string;
}
/** `agent-bash:kill`: the end of a run was requested. */
interface ObservedKill extends Observed {
  /**
   * `'abort'`: the signal of the run was aborted. `'timeout'`: the run reached its limit; published at its end.
   * `'kill'`: `kill()` of a terminal or a registry. `'close'`: the session or registry of the run was closed.
   */
  reason: 'abort' | 'timeout' | 'kill' | 'close';
  /** The one signal that `kill(signal)` of a terminal sends; `null` if the whole tree is ended. */
  signal: string | null;
}
/** `agent-bash:exit`: a run has ended, or goes on as a task. */
interface ObservedExit extends Observed {
  /** As in a `BashResult`. For a task, its state. */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'killed' | 'lost';
  /** As in a `BashResult`; `null` with `'backgrounded'` and `'lost'`. */
  exitCode: number | null;
  /**
   * The signal that really ended the shell (`'SIGKILL'`), or `null`. For a killed task, the strongest signal that was
   * sent.
   */
  signal: string | null;
  /** Time from the start of the run to its end, in ms. */
  durationMs: number;
  /** The limit that applied, in ms; `null` for a task. */
  timeoutMs: number | null;
  /** The limit that ended the run, or moved it to the background. `null` if none did, and for a task. */
  limit: 'time' | 'silence' | null;
  /** What the run waited for at that limit, as the note says it. `null` if that is not known, and for a task. */
  waitedFor: string | null;
  /** With `'backgrounded'`, the task that the run is from now on. Otherwise `null`. */
  taskId: string | null;
  /** The resources that the processes of the run used; `null` for a task. */
  usage: BashUsage | null;
  /** The processes that the run left running; always empty for a task. */
  survivors: Survivor[];
  /** As in a `BashResult`. */
  confinement: Confinement | null;
  /** Names the run, for `undo`. */
  runId: string;
  /** As in a `BashResult`, also for a task that this process started. `null` for a task from elsewhere. */
  receipt: Receipt | null;
  /** As in a `BashResult`, for the same tasks. */
  undo: UndoCoverage | null;
  /** As in a `BashResult`, also for a task that this process started. `null` for a task from elsewhere. */
  evidence: Evidence | null;
  /** The estimated tokens of the output and of its view; `null` without a view. */
  tokens: View['tokens'] | null;
  /** Notes as in a `BashResult`; always empty for a task. */
  notes: string[];
}
/** `agent-bash:block`: the safety engine has refused a command, and nothing was started. */
interface ObservedBlock {
  /** Names the call in this process. */
  id: string;
  /** The kind that the run would have had. */
  kind: ObservedKind;
  /** The command as it was given. */
  command: string;
  /** The directory in which it would have run, absolute. */
  cwd: string;
  /** The name of the target that would have run it; `null`: this machine. */
  target: string | null;
  /** The message of the error. */
  message: string;
  /** The findings of the error. */
  findings: Finding[];
}
/**
 * `agent-bash:reuse`: a stored result was given in place of a run. Its call has no `start` and no `exit`, unless a
 * filter ran on stored output.
 */
interface ObservedReuse {
  /** Names the call in this process. */
  id: string;
  /** The kind that the run would have had. */
  kind: ObservedKind;
  /** The command as it was given, without the prefix. */
  command: string;
  /** Names the result. */
  runId: string;
  /** As in a `BashResult`. */
  exitCode: number | null;
  /** As in a `BashResult`. */
  reused: Reused;
}
/** `agent-bash:undo`: a run was undone. A dry run is not published. */
interface ObservedUndo {
  /** The run that was undone. */
  runId: string;
  /** Names the undo, which is a run, too; `''` if nothing changed. */
  undoId: string;
  /** Paths of things that are as before the run again. */
  restored: string[];
  /** Paths of things that the run had made, and that are gone. */
  removed: string[];
  /** Things that stay as they are, because they changed after the run. */
  conflicts: UndoConflict[];
  /** Effects that no undo takes back, as sentences. At most 100 paths are named, and the others counted. */
  notCovered: string[];
}
/** `agent-bash:draft`: this process has opened a draft, or done something with it. A dry run is not published. */
interface ObservedDraft {
  /** What has happened. A draft that exists may be opened again, and a part of it committed. */
  event: 'opened' | 'forked' | 'committed' | 'discarded' | 'closed';
  /** The id of the draft. With `'forked'` that of the new one. */
  draft: string;
  /** Its name for people, or `null`. */
  name: string | null;
  /** The drafted directory, absolute. */
  root: string;
  /** With `'forked'`, the id of the draft whose changes it begins with. Otherwise `null`. */
  forkOf: string | null;
  /** With `'committed'`, numbers of paths as in `Committed`: with conflicts nothing was applied. Otherwise `null`. */
  counts: {
    applied: number;
    skipped: number;
    conflicts: number;
  } | null;
  /** Names the commit, for `undo`; `''` if nothing was changed. `null` without a commit. */
  undoId: string | null;
}
/** `agent-bash:rule-retired`: a rule of reductions does not pay, and is off for the rest of its store. */
interface ObservedRule {
  /** The name of the rule, as in `view.rules`. */
  rule: string;
  /** Estimated tokens that the rule left out. */
  saved: number;
  /** Tokens of those that were recalled. */
  recalled: number;
}
/** `agent-bash:target`: the state of a target has changed. */
interface ObservedTarget {
  /** What has happened. `'connected'`: by `connect`, or anew after the target was lost. */
  state: 'connected' | 'disconnected' | 'reconnected' | 'lost' | 'closed';
  /** The name of the target. */
  target: string;
  /** Unix time in ms. */
  at: number;
  /** Why the link is cut, or the target lost; `''` for `'connected'` and `'reconnected'`. */
  reason: string;
  /** How long there was no link, in ms; `null`: there was one. */
  downMs: number | null;
  /** The `runId`s of the commands that are lost. */
  lost: string[];
}
//#endregion
//#region ts/registry/listeners.d.ts
/** Receives a task that has ended. */
type TaskExitListener = (task: BackgroundTask) => unknown;
/** Receives a task, and text that was added to its log. */
type TaskOutputListener = (task: BackgroundTask, text: string) => unknown;
//#endregion
//#region ts/registry/index.d.ts
/**
 * Commands that run in the background: starts them, reads their output, waits for them and ends them.
 *
 * With `dir`, tasks and their logs outlive this process, and any process that opens the same directory lists and ends
 * them. Without it they end with `close()`, or with this process for any reason. A running task never keeps Node alive,
 * but a pending call does. A task is named by itself, its id or its pid: a name that the registry does not have is
 * `ERR_BASH_UNKNOWN_TASK`. After `close()` every call fails with `ERR_BASH_CLOSED`.
 */
declare class BackgroundRegistry {
  #private;
  /**
   * Opens the directory, or makes it, and removes tasks that ended more than `retentionMs` ago.
   *
   * Throws a `BashError`: `ERR_BASH_INVALID_ARG` for an option that does not exist, has the wrong type or is out of
   * range, or the reason why the directory cannot be used. With a `target` each call rejects with that reason.
   *
   * @example const registry = new BackgroundRegistry({ dir: '/srv/project/.tasks' });
   */
  constructor(options?: BackgroundRegistryOptions);
  /**
   * Starts a command and resolves once its shell runs. The time limit is 24 h, unless `timeoutMs` is given. `signal`
   * aborts the start only, which then rejects with `ABORT_ERR`. `mode`, `onTimeout`, `registry`, `onOutput`,
   * `onSnapshot` and `onPrompt` have no effect here: `on('output')` receives the output of a task. Rejects as `bash()`
   * does, and with `ERR_BASH_TOO_MANY_TASKS` if `maxTasks` run already.
   */
  start(command: string, options?: CommandOptions): Promise<BackgroundTask>;
  /**
   * Returns all tasks as they are now, including tasks of other processes in the same directory. Ended tasks stay for
   * `retentionMs`. With a `target` they are as it has told them last; see `refresh`. Throws `ERR_BASH_CLOSED` after
   * `close()`.
   */
  list(): BackgroundTask[];
  /**
   * Resolves with all tasks as they are now, as `list` returns them. Asks the target, if there is one. Rejects with
   * `ERR_BASH_CLOSED` after `close()`.
   *
   * @example const running = (await registry.refresh()).filter(({ state }) => state === 'running');
   */
  refresh(): Promise<BackgroundTask[]>;
  /**
   * Resolves with the output of a task since the last check or wait of this registry, or from byte `cursor` of its log
   * on. A `cursor` leaves the registry's own place as it is.
   */
  check(task: TaskName, options?: BackgroundCheckOptions): Promise<BackgroundCheck>;
  /**
   * Resolves with the new output at the first of these events: the task has ended, its unread output matches `pattern`,
   * `port` accepts a connection on this machine, `timeoutMs` have passed, `signal` is aborted. `matched` is true for
   * the pattern and the port. The output is read from the registry's own place, which moves on.
   */
  wait(task: TaskName, options?: BackgroundWaitOptions): Promise<BackgroundCheck>;
  /**
   * Ends a task with all that it started: SIGTERM, its grace, then SIGKILL. Resolves with the rest of its output once
   * no process of it is left. A task that has ended is left alone, and its state and output are returned. Rejects with
   * `ERR_BASH_UNSUPPORTED` for a task that runs on another machine or in another container.
   */
  kill(task: TaskName): Promise<BackgroundCheck>;
  /**
   * Ends all running tasks at once, except those on other machines and in other containers. Rejects, after all were
   * tried, if one could not be ended.
   */
  killAll(): Promise<BackgroundCheck[]>;
  /**
   * `'exit'`: a task has ended, or is lost. `'output'`: a task has written this text, in order. The next text of a task
   * follows once the promises of its listeners have settled.
   *
   * A listener that throws or rejects does not disturb the others or the process. Its first failure is a warning of the
   * process (`process.on('warning')`, code `AGENT_BASH_LISTENER`), and it is still called. A function counts once.
   * Listeners do not keep Node alive. Throws `ERR_BASH_INVALID_ARG` for another event or a listener that is not a
   * function, and `ERR_BASH_CLOSED` after `close()`.
   *
   * @example registry.on('exit', ({ pid, state }) => console.log(pid, state));
   */
  on(event: 'exit', listener: TaskExitListener): this;
  on(event: 'output', listener: TaskOutputListener): this;
  /** Removes a listener. Does nothing if the listener was never added. */
  off(event: 'exit', listener: TaskExitListener): this;
  off(event: 'output', listener: TaskOutputListener): this;
  /** Problems with files of the directory, one per line. A damaged state file loses only its own task. */
  get notes(): string[];
  /**
   * Ends the tasks of a registry without `dir` and removes their files. Tasks of a registry with `dir` go on, except
   * those whose `kill` was called before. May be called again, and resolves when all is done.
   */
  close(): Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * Returns the registry of the user's own directory, `$XDG_STATE_HOME/agent-bash`, else `~/.local/state/agent-bash`, by
 * `process.env` at the call, or by the login environment of a target. Each thread has one registry for each directory,
 * made at the first call and again after it was closed. Its tasks outlive this process, and `npx agent-bash` shows
 * them. Throws as the constructor does, and `ERR_BASH_UNSUPPORTED` for a user without a home directory.
 */
declare function defaultRegistry(target?: Target): BackgroundRegistry;
//#endregion
//#region ts/bash-options.d.ts
/** Options of `bash()`. */
interface BashOptions extends CommandOptions<BackgroundRegistry> {}
//#endregion
//#region ts/draft/index.d.ts
/** A draft as the addon describes it. */
type Told = Omit<DraftInfo, 'counts'> & {
  dir: string;
  counts: DraftInfo['counts'] | null;
};
/** Opens a draft; see `openDraft` of the main entry. */
/**
 * Work that has not happened yet: commands with the option `draft` see the root at its own path, with all that is in
 * it, and what they change is kept apart until it is committed. Made by `openDraft`.
 *
 * After `commit` of all that is in it, and after `discard`, every use is `ERR_BASH_DRAFT` with the reason `'unknown'`.
 */
declare class Draft {
  #private;
  /** Its name for `openDraft({ id })`. */
  readonly id: string;
  /** The name for people, or `null`. */
  readonly name: string | null;
  /** The drafted directory, absolute and without links. */
  readonly root: string;
  /** When it was opened first, Unix time in ms. */
  readonly createdAt: number;
  /** @internal */
  constructor({
    id,
    name,
    root,
    createdAt,
    dir
  }: Told, credentials: Credentials);
  /** Whether it can be used, is being committed by this object, or is over. */
  get state(): 'open' | 'committing' | 'committed' | 'discarded';
  /**
   * Resolves with what the draft has changed, and with the paths that someone outside has changed as well. Reads what
   * the draft has changed, and not the root. May be called while commands run.
   *
   * @example const { counts, conflicts } = await draft.changes();
   */
  changes(options?: DraftChangesOptions): Promise<DraftChanges>;
  /**
   * Resolves with the changes as a patch that `git apply` takes in the root. Binary files are named at its beginning,
   * with their sizes.
   *
   * @example const patch = await draft.diff({ paths: ['src'] });
   */
  diff(options?: DraftDiffOptions): Promise<string>;
  /**
   * Resolves with the contents of a file, or `null` if there is no file. A relative path begins in the root; one that
   * is not below it is `ERR_BASH_INVALID_ARG`. A link is not followed.
   *
   * @example const text = new TextDecoder().decode((await draft.read('package.json')) ?? undefined);
   */
  read(path: string, options?: DraftReadOptions): Promise<Uint8Array | null>;
  /**
   * Moves the changes into the root, all or those of `paths`. With `'stop'`, the default, a path that was changed
   * outside as well stops it: the promise resolves with the conflicts, and nothing was changed.
   *
   * Rejects with `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in the draft. A commit that is killed is
   * finished by whoever uses the draft next. `undo(undoId)` takes a commit back. The draft is over if nothing of it is
   * left, and stays otherwise.
   *
   * @example const { applied, conflicts, undoId } = await draft.commit();
   */
  commit(options?: DraftCommitOptions): Promise<Committed>;
  /**
   * Removes the draft with all its changes. Rejects with `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in it.
   *
   * @example await draft.discard();
   */
  discard(): Promise<void>;
  /**
   * Opens a second draft, which begins with the changes of this one. From then on neither sees the other. Rejects with
   * `ERR_BASH_DRAFT`, reason `'busy'`, while a command runs in this draft.
   *
   * @example const bolder = await draft.fork({ name: 'the same without the cache' });
   */
  fork(options?: {
    name?: string | undefined;
  }): Promise<Draft>;
  /**
   * Resolves with the place at which this machine reaches a port of the draft, or with `null` if `expose` does not have
   * it. With `'auto'` it is `null` as long as no server listens there. The place stays as long as this process has the
   * draft open, also if a server starts or a commit is made meanwhile; without a server, connections are reset.
   *
   * @example const place = await draft.port(3000);
   */
  port(port: number): Promise<{
    port: number;
    url: string;
  } | null>;
  /**
   * Ends the commands and tasks that this process runs in the draft. Its changes stay, as `keep` says. May be called
   * again.
   */
  close(): Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/undo/types.d.ts
/** Options of `undo`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
interface UndoRunOptions {
  /**
   * The machine on which the run ran, or a pool, whose connected places are searched for the run. Relative paths begin
   * in its directory.
   *
   * @default this machine
   * @example await undo(runId, { target });
   */
  target?: Target | Fleet | undefined;
  /**
   * Whether the undo only reports its effect and changes nothing.
   *
   * @default false
   * @example const { conflicts } = await undo(runId, { dryRun: true });
   */
  dryRun?: boolean | undefined;
  /**
   * Only these paths and, for directories, everything below. Relative paths are resolved against `process.cwd()`.
   *
   * @default everything that the run changed
   * @example await undo(runId, { paths: ['src'] });
   */
  paths?: string[] | undefined;
  /**
   * The directory of the store, as in `UndoOptions`.
   *
   * @default the user's own
   * @example await undo(runId, { dir: '/srv/agent/undo' });
   */
  dir?: string | undefined;
}
/** Options of `undoPoints`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
interface UndoPointsOptions {
  /**
   * The machine of the runs, or a pool, for those of all its connected places. Relative paths begin in its directory.
   *
   * @default this machine
   * @example const points = await undoPoints({ target });
   */
  target?: Target | Fleet | undefined;
  /**
   * Only runs that started in this directory or below. A relative path is resolved against `process.cwd()`.
   *
   * @default every run of the store
   * @example const points = await undoPoints({ cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * The directory of the store, as in `UndoOptions`.
   *
   * @default the user's own
   * @example const points = await undoPoints({ dir: '/srv/agent/undo' });
   */
  dir?: string | undefined;
}
//#endregion
//#region ts/confine/secret-for.d.ts
type Value = Secret['value'];
type Rule = Omit<Secret, 'value'>;
/** The secrets of services, by the variables and files that their programs read. */
declare const SERVICES: {
  github: {
    GITHUB_TOKEN: {
      hosts: string[];
    };
    GITHUB_NETRC: Rule;
  };
  npm: {
    NPM_TOKEN: {
      hosts: string[];
      as: "bearer";
      file: string;
      template: string;
    };
  };
  pypi: {
    TWINE_PASSWORD: {
      hosts: string[];
      as: "basic";
    };
  };
  docker: {
    DOCKER_TOKEN: {
      hosts: string[];
      as: "basic";
    };
  };
  openai: {
    OPENAI_API_KEY: {
      hosts: string[];
      as: "bearer";
    };
  };
  anthropic: {
    ANTHROPIC_API_KEY: {
      hosts: string[];
      as: "header";
    };
  };
};
/** The credentials of an account of AWS. */
interface AwsCredentials {
  accessKeyId: Value;
  secretAccessKey: Value;
  /** Of temporary credentials. */
  sessionToken?: Value | undefined;
  /**
   * The hosts of the services.
   *
   * @default ['*.amazonaws.com']
   */
  hosts?: string[] | undefined;
}
type SecretFor = Record<keyof typeof SERVICES, (value: Value) => Record<string, Secret>> & {
  git(host: string, value: Value): Record<string, Secret>;
  aws(credentials: AwsCredentials): Record<string, Secret>;
};
/**
 * Secrets of well-known services, to spread into `confine.secrets`: `github` for git and gh, `npm`, `pypi` for twine,
 * `docker` for Docker Hub, `openai`, `anthropic`, `git(host, value)` for another host of repositories, and
 * `aws({ accessKeyId, secretAccessKey })`. A value may be a function that returns it.
 *
 * @example
 * const secrets = { ...secretFor.github(token), ...secretFor.npm(() => keychain.get('npm')) };
 * await bash('git push && npm publish', { confine: { secrets } });
 */
declare const secretFor: SecretFor;
//#endregion
//#region ts/core/signals.d.ts
/** The name of a signal: `'SIGINT'`, or `'INT'` for short. */
type SignalName = { [Name in NodeJS.Signals]: Name | (Name extends `SIG${infer Short}` ? Short : never) }[NodeJS.Signals];
//#endregion
//#region ts/errors.d.ts
/**
 * Why a target cannot be used. `'unreachable'`: no transport, route or container, as the transport says. `'auth'`,
 * `'host-key'`: as ssh says. `'shell'`: the login shell ended, or printed over 64 KiB, before our text ran.
 * `'timeout'`: it took longer than `connectTimeoutMs`. `'no-place'`: nowhere to start a program from. `'no-program'`:
 * the npm package is missing. `'hash'`: `hostProgram` is missing or another one. `'unsupported'`: there is no program
 * for this system. `'protocol'`: what answered is no program of ours. `'lost'`: the target was lost before the call
 * began, or before it answered.
 */
type TargetReason = 'unreachable' | 'auth' | 'host-key' | 'shell' | 'timeout' | 'no-place' | 'no-program' | 'hash' | 'unsupported' | 'protocol' | 'lost';
/**
 * Why a draft cannot be used. `'unsupported'`: this system has no user namespaces or no overlay on that file system, or
 * refuses to read or write there. `'unknown'`: there is no such draft, or no more. `'busy'`: a command runs in it, or
 * another process commits, forks or discards it. `'space'`: the disk is full. `'root'`: the directory cannot be
 * drafted.
 */
type DraftReason = 'unsupported' | 'unknown' | 'busy' | 'space' | 'root';
/** The codes of a `BashError`. */
type BashErrorCode = /** An argument or an option has the wrong type or an impossible value, or does not exist. */'ERR_BASH_INVALID_ARG' /** `cwd` does not exist. */ | 'ERR_BASH_CWD_NOT_FOUND' /** `cwd` is not a directory. */ | 'ERR_BASH_CWD_NOT_DIRECTORY' /** The shell does not exist. */ | 'ERR_BASH_SHELL_NOT_FOUND' /** The system could not start a process; see `errno`. */ | 'ERR_BASH_SPAWN' /** Required parts of `confine` cannot be held on this machine, or a write root does not exist; see `missing`. */ | 'ERR_BASH_CONFINEMENT' /** A run cannot be undone, or the undo that `undo.require` asks for would not cover everything. */ | 'ERR_BASH_UNDO' /** The safety engine refused the command; see `findings`. */ | 'ERR_BASH_BLOCKED' /** The registry has no task of this id or pid. */ | 'ERR_BASH_UNKNOWN_TASK' /** The store has no output of this number. */ | 'ERR_BASH_UNKNOWN_OUTPUT' /** `maxTasks` tasks run already. */ | 'ERR_BASH_TOO_MANY_TASKS' /** The session, the terminal, the registry or the target was closed. */ | 'ERR_BASH_CLOSED' /** This system, or this place, cannot do it. */ | 'ERR_BASH_UNSUPPORTED' /** The target cannot be used, and nothing was started; see `reason`. */ | 'ERR_BASH_TARGET' /** The draft cannot be used; see `reason`. */ | 'ERR_BASH_DRAFT' /** The signal of `BackgroundRegistry.start` was aborted before the start. */ | 'ABORT_ERR';
/** Nothing was run. A command that ran is never an error, whatever its exit code. */
declare class BashError extends Error {
  readonly name = "BashError";
  /** The kind of the error. */
  readonly code: BashErrorCode;
  /** The system's error (`'EAGAIN'`), with `ERR_BASH_SPAWN` if the system gave one. */
  readonly errno?: string;
  /** The reasons of a refusal, with `ERR_BASH_BLOCKED`. */
  readonly findings?: Finding[];
  /** The parts that cannot be held, with `ERR_BASH_CONFINEMENT`: why, and the remedy for this machine. */
  readonly missing?: ConfineMissing[];
  /** The name of the target, for an error of a call with one. */
  readonly target?: string;
  /** Why the target or the draft cannot be used, with `ERR_BASH_TARGET` and `ERR_BASH_DRAFT`. */
  readonly reason?: TargetReason | DraftReason;
  /** What the transport and the login shell have said, cleaned, at most 4 KiB; with `ERR_BASH_TARGET`. */
  readonly stderr?: string;
  constructor(code: BashErrorCode, message: string, errno?: string, findings?: Finding[], missing?: ConfineMissing[]);
}
//#endregion
//#region ts/evidence/index.d.ts
/**
 * Lists the checks that ran in this process with `evidence`, the newest first: the last run of each, the last one that
 * passed, and what changed since. At most 64 are remembered. The list serves a host that lets nobody say «done» while a
 * check is missing, has failed or is stale.
 *
 * Files are compared where the last runs had `evidence: 'tree'`; otherwise `stale` is `null`.
 *
 * @example const open = (await listChecks()).filter(({ run, stale }) => run.verdict !== 'passed' || stale !== false);
 * @param options see `ListChecksOptions`; all may be left out.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option.
 */
declare function listChecks(options?: ListChecksOptions): Promise<Standing[]>;
/**
 * Counts the tests in the output of test runners: one entry for each runner that the output proves, in the order in
 * which they began. An output without one gives an empty array. The function is pure, and reads colours, too.
 *
 * Nothing is guessed: prose, files, diffs and logs that only look like a runner count nothing.
 *
 * @example const [counts] = readTests(stdout, { command: 'pytest -q', exitCode: 1 });
 * // { runner: 'pytest', passed: 2, failed: 1, skipped: 0, total: 3, failures: ['tests/test_a.py::test_sum'],
 * //   failuresTotal: 1, complete: true }
 * @param text the whole output, with both streams as they came.
 * @param options see `ReadTestsOptions`; all may be left out.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option.
 */
declare function readTests(text: string, options?: ReadTestsOptions): TestCounts[];
//#endregion
//#region ts/fleet/index.d.ts
/**
 * Machines that share the work. A pool is given as `target` wherever a `Target` is, to each call with its `affinity`:
 * calls with the same one run on the same place, where their files are.
 *
 * A run goes to the place with the fewest runs, then the fewest affinities, then the least load. It waits in the order
 * of the calls when all places are full, at most `queueMs`. It is placed again only if it never began. Three failed
 * connections in a row keep calls from a place for 5 s, and each further one for twice as long, up to 5 min.
 *
 * An idle pool keeps no process alive. One that is dropped without `close()` is closed after its last run and task,
 * once it is garbage-collected.
 */
declare class TargetPool implements Fleet {
  #private;
  /**
   * Connects to nothing: an address is connected when a run is placed there. With `min`, places are asked for at once.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for an option that does not exist or has a wrong value, for two
   * targets of one name, and if there is neither a target nor a provider.
   *
   * @example const pool = new TargetPool({ targets: [{ ssh: 'build1' }, { ssh: 'build2' }] });
   */
  constructor(options: TargetPoolOptions);
  /**
   * Takes a place, connected, until `release()`. Rejects with `ERR_BASH_TARGET`: `timeout` if there was none within
   * `queueMs`, with the last failure in the message, and `lost`, once, if the place of the affinity is lost. Rejects
   * with `ABORT_ERR` when `signal` is aborted, and with `ERR_BASH_CLOSED` after `close()`.
   *
   * @example
   * const { target, release } = await pool.acquire({ affinity: 'chat-7' });
   * try {
   *   await target.writeFile('input.txt', 'text');
   * } finally {
   *   release();
   * }
   */
  acquire(options?: {
    affinity?: string | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<{
    target: Target;
    release(): void;
  }>;
  /**
   * Places nothing new on a place, and closes it once its runs have ended; one of a provider is released. Its
   * affinities get other places. Resolves when it is gone. Rejects with `ERR_BASH_INVALID_ARG` for a name that no place
   * has.
   */
  drain(id: string): Promise<void>;
  /** The places and how busy they are, those of `targets` first. */
  stats(): PlaceStats[];
  /**
   * Closes the targets that the pool has connected, as `Target.close()` does, and releases the places of its provider.
   * Calls that wait reject with `ERR_BASH_CLOSED`. May be called again.
   */
  close(): Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/highlight.d.ts
/**
 * The class of a part of a command: the name of a program, an option, quoted text, a variable, a reserved word, an
 * operator, a comment, a number, or the name of a function that is defined.
 */
type HighlightClass = 'program' | 'option' | 'string' | 'variable' | 'keyword' | 'operator' | 'comment' | 'number' | 'function';
/** A part of a command, from `start` up to `end` in UTF-16 units, as `slice` takes them. */
interface HighlightToken {
  start: number;
  end: number;
  class: HighlightClass;
}
/**
 * Returns the parts of a command that a person tells apart by colour, in order and without overlap. Text without a
 * class, such as plain arguments and blanks, is between them. Pass them to `renderText` and `renderHtml` as `tokens`.
 *
 * A text with syntax errors has tokens, too. Only the first 8 KiB are read, and 512 bytes of each statement, so that
 * any text is read in bounded time. What follows several statements that cannot be read has no tokens. The tokens
 * decide nothing: `analyze` says what a command does.
 *
 * @example const tokens = highlight('git push --force origin "$BRANCH"');
 * @param command any string.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for anything but a string.
 */
declare function highlight(command: string): HighlightToken[];
//#endregion
//#region ts/pty/listeners.d.ts
/** How the program of a terminal has ended, as in `BashResult`. */
interface TerminalExit {
  /** 0 … 255; 128 + n after signal n, 124 at the time limit, 130 after `kill()`. */
  exitCode: number | null;
  /** The signal that really ended it (`'SIGKILL'`), or `null`. */
  signal: string | null;
}
/** Receives the text that a program has written to a terminal. */
type TerminalDataListener = (text: string) => unknown;
/** Receives the end of the program in a terminal. */
type TerminalExitListener = (end: TerminalExit) => unknown;
//#endregion
//#region ts/pty/options.d.ts
/** Options of a `PtySession`. */
interface TerminalOptions extends BashOptions {
  /**
   * Characters per row: a whole number from 1 to 65,535.
   *
   * @default 80
   * @example new PtySession({ cols: 120 });
   */
  cols?: number | undefined;
  /**
   * Rows: a whole number from 1 to 65,535.
   *
   * @default 24
   * @example new PtySession({ rows: 40 });
   */
  rows?: number | undefined;
}
/** The events that end `PtySession.wait`, beside the end of the program. */
interface TerminalWaitOptions {
  /**
   * How long to wait, in ms, a whole number of at least 0.
   *
   * @default no limit
   * @example await pty.wait({ timeoutMs: 10_000 });
   */
  timeoutMs?: number | undefined;
  /**
   * Time without output, in ms: a whole number of at least 1, counted from this call or the last output, whichever is
   * later.
   *
   * @default none
   * @example await pty.wait({ idleMs: 200 });
   */
  idleMs?: number | undefined;
  /**
   * Text that the program writes, or has written since the start or the last match. A string is the source of a regular
   * expression; the flags `g` and `y` of a `RegExp` have no meaning. A pattern that the engine does not support is
   * `ERR_BASH_INVALID_ARG`.
   *
   * @default none
   * @example await pty.wait({ pattern: />>> $/ });
   */
  pattern?: string | RegExp | undefined;
}
//#endregion
//#region ts/pty/index.d.ts
/**
 * A command in a pseudo-terminal of its own, for editors, REPLs and menus. The command sees a controlling terminal with
 * TERM=xterm-256color and without the defaults for unattended commands. Safety, environment, limits and the end of all
 * its processes are as with `bash()`. One terminal runs one command.
 *
 * There is no time limit unless `timeoutMs` is given. A command does not move to the background: at its limit it is
 * ended, and `registry`, `onTimeout`, `idleTimeoutMs`, `merge` and `warm` have no effect.
 */
declare class PtySession {
  #private;
  /**
   * Starts nothing. The screen keeps at most 1,000 rows and columns. The options other than `cols` and `rows` are the
   * options of `bash()`. `stdin` (input is typed, see `write`), and `'background'` as `mode` or `onTimeout`, are
   * refused.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for invalid options.
   *
   * @example const terminal = new PtySession({ cols: 120, rows: 40 });
   */
  constructor(options?: TerminalOptions);
  /**
   * Starts the command and resolves with the pid of its shell once that runs; 0 if `signal` was aborted before, which
   * starts nothing. Events begin after that. Rejects as `bash()` does, and with `ERR_BASH_UNSUPPORTED` if the system
   * provides no pseudo-terminal or `AGENT_BASH_NO_PTY=1` is set. After a rejection it may be called again. A second
   * command is `ERR_BASH_INVALID_ARG`.
   */
  start(command: string): Promise<{
    pid: number;
  }>;
  /**
   * Types text or bytes, after all that was typed before: `'\r'` is Enter, `'\x03'` Ctrl-C. Resolves when the terminal
   * has taken all of it, however long. A program that reads whole lines gets a line over 4,000 bytes (1,000 on macOS)
   * in parts, where the system would cut it. Rejects with `ERR_BASH_INVALID_ARG` before the start and for a value that
   * is neither text nor bytes, and with `ERR_BASH_CLOSED` after the end of the program.
   */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Changes the size of the terminal, as in the constructor; the program receives SIGWINCH. Throws
   * `ERR_BASH_INVALID_ARG`.
   */
  resize(cols: number, rows: number): void;
  /** Returns the screen as a person would see it now: the last one after the end, an empty one before the start. */
  screen(): TerminalScreen;
  /** Returns the modes that the program has set for typing: some keys have two forms. */
  modes(): TerminalModes;
  /**
   * `'data'`: all output of the program, with its escape sequences, in whole characters and at most 64 KiB per call.
   * The program is held back until the listener's promise has settled. A listener may draw the terminal and answer the
   * questions of the program (DSR, DA). An answer that is not there within 250 ms is given here, and at once without a
   * listener. `'exit'`: once, after all data.
   *
   * A listener that throws or rejects causes a warning of the process, and is still called. Throws
   * `ERR_BASH_INVALID_ARG` for another event or a listener that is not a function.
   *
   * @example terminal.on('data', (text) => process.stdout.write(text));
   */
  on(event: 'data', listener: TerminalDataListener): this;
  on(event: 'exit', listener: TerminalExitListener): this;
  /** Removes a listener. Does nothing if the listener was never added. */
  off(event: 'data', listener: TerminalDataListener): this;
  off(event: 'exit', listener: TerminalExitListener): this;
  /**
   * Waits for the end of the program, or for the first of `pattern`, `idleMs` and `timeoutMs`. The pattern is searched
   * in the last 1 MiB of the text since the start or the last match, without escape sequences and with `\n` as line
   * end. The exit code is as in `BashResult`, `null` while the program runs. Rejects with `ERR_BASH_INVALID_ARG` before
   * the start, and for a pattern that the engine does not support.
   */
  wait(options?: TerminalWaitOptions): Promise<TerminalWaited>;
  /**
   * Without `signal`: ends the program and everything it started (SIGHUP, SIGTERM, `graceMs`, SIGKILL), and resolves
   * when all have ended. The result is the result of an abort. With a `signal` (`'SIGINT'` or `'INT'`): only sends the
   * signal, to the foreground processes and to the shell's group. Does nothing before the start and after the end. An
   * unknown name is `ERR_BASH_INVALID_ARG`.
   */
  kill(signal?: SignalName): Promise<void>;
  /**
   * Resolves at the end with the result, as `bash()` does: all output is in `stdout`, with `\n` as line end. Rejects
   * with `ERR_BASH_INVALID_ARG` before the start.
   */
  result(): Promise<BashResult>;
  /**
   * Lets Node exit while the program runs, which ends it (SIGHUP). A pending `wait` or `write` still keeps Node alive.
   * Does nothing without a program.
   */
  unref(): void;
  /** Undoes `unref()`: the program keeps Node alive, as it does by default. */
  ref(): void;
  /** Same as `kill()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/pty/names.d.ts
/** @deprecated The name is `TerminalExit`. */
type PtyEnd = TerminalExit;
/** @deprecated The name is `TerminalOptions`. */
type PtyOptions = TerminalOptions;
/** @deprecated The name is `TerminalWaitOptions`. */
type PtyWaitOptions = TerminalWaitOptions;
//#endregion
//#region ts/reduce/index.d.ts
/**
 * Returns the text that a model reads in place of an output: the same text with repeats folded, and with `level:
 * 'salient'` without the lines that tell least, which a marker replaces. If nothing is gained, the view has the
 * unchanged text.
 *
 * The text is treated like the output of a local command. The same text, options and rules give the same view.
 *
 * @example const { text, tokens } = reduceText(stdout, { command: 'npm test', exitCode: 0, level: 'salient' });
 * @param text the standard output, or both streams as they came.
 * @param options see `ReduceTextOptions`; all may be left out.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type, an unknown option, and a file of rules that cannot
 * be used.
 */
declare function reduceText(text: string, options?: ReduceTextOptions): View;
/**
 * Returns how many tokens a model reads in a text, by estimate: one pass, without a vocabulary. The median error is 5 %
 * over outputs of commands with the vocabulary o200k.
 *
 * @example estimateTokens('hello world'); // 2
 */
declare function estimateTokens(text: string): number;
//#endregion
//#region ts/reduce/ledger.d.ts
/** The figures of one rule. */
interface RuleStats {
  /** The name of the rule; `'budget'`, `'long'` or `'seen'` for lines that no rule left out. */
  rule: string;
  /** Tokens that the rule left out. */
  saved: number;
  /** How many of these tokens were recalled later. */
  recalled: number;
}
//#endregion
//#region ts/reduce/store.d.ts
/** Options of an `OutputStore`. */
interface OutputStoreOptions {
  /**
   * The directory of the files. It is made with mode 0700 if it does not exist.
   *
   * @default a directory in the temporary directory, which is removed with this process
   * @example new OutputStore({ dir: '/srv/project/.agent/outputs' });
   */
  dir?: string | undefined;
  /**
   * Bytes of all outputs together. The oldest outputs are forgotten first. Nothing is left out of a larger output.
   *
   * @default 256 MiB
   * @example new OutputStore({ maxBytes: 64 * 1024 * 1024 });
   */
  maxBytes?: number | undefined;
}
/** The lines to read of an output. Without an option, all lines. */
interface OutputRange {
  /** The first and the last line, from 1, through both streams. */
  lines?: [number, number] | undefined;
  /**
   * A regular expression for the lines, in the syntax of rules (docs/tokens.md): `(?i)` ignores case, and there is no
   * look-around. Any search takes one step per byte. Lines over 50 KiB are not searched.
   */
  pattern?: string | undefined;
}
/**
 * Keeps the outputs whose views left out lines, so that a model can recall them. Each output is a file that only this
 * user can read: standard output, then standard error.
 *
 * @example
 * const outputs = new OutputStore({ maxBytes: 64 * 1024 * 1024 });
 * outputs.stats(); // [{ rule: 'budget', saved: 12_400, recalled: 310 }]
 */
declare class OutputStore {
  #private;
  /** @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option. */
  constructor(options?: OutputStoreOptions);
  /**
   * Resolves with an unchanged output, byte for byte, or with lines of it; what a tap kept is cleaned as any output. A
   * range past the end gives the existing lines. Rejects with `ERR_BASH_UNKNOWN_OUTPUT` for an output that is unknown
   * or forgotten, and with `ERR_BASH_INVALID_ARG` for a wrong type.
   *
   * @example await outputs.read(12, { lines: [40, 95] });
   */
  read(id: number, range?: OutputRange): Promise<string>;
  /**
   * Deletes the file of an output, or all of them. An unknown number is no error.
   *
   * @throws the system's error if a file cannot be deleted. The others are deleted, and all are forgotten.
   */
  forget(id?: number): void;
  /** Returns the estimated tokens that each rule left out, and how many of these were recalled. */
  stats(): RuleStats[];
  /** Deletes all files. From then on nothing is left out of outputs that this store would keep. */
  close(): Promise<void>;
}
//#endregion
//#region ts/safety/index.d.ts
/**
 * Analyzes a command without running it. The analysis lists every simple command at any depth, with its words after
 * expansion, its redirects and its directory, and the findings of the rules. The function reads no file, starts
 * nothing, takes microseconds, and returns for every text. A command that it cannot judge has `complete: false` and a
 * verdict of at least `'ask'`.
 *
 * The analysis guards against mistakes and is no boundary against malice: see docs/safety.md.
 *
 * @example const { verdict, findings } = analyze('git push --force', { cwd: '/srv/project' });
 * @param command any string; a syntax error or a NUL is a finding.
 * @param options see `AnalyzeOptions`; all may be left out. `onAsk` has no effect here.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types, and for an unknown option, rule, level or kind of
 * wrapper.
 */
declare function analyze(command: string, options?: AnalyzeOptions): Analysis;
/**
 * Decides on an analysis by rules of the host, the strictest first:
 *
 * - `'deny'` if the analysis denies, or a deny rule matches any command in it, wrapped or not.
 * - `'ask'` if the analysis asks, or an ask rule matches.
 * - `'allow'` if all of it could be judged, and each command and each written file matches an allow rule. Commands that
 *   only read need none unless `allow` is empty. Without `allow` the analysis alone allows.
 * - `'ask'` otherwise.
 *
 * A rule is the words of a command (`'npm run build'`: exactly these), its first words (`'git log:*'`), written
 * files (`'write:src/**'`, relative to the directory of the analysis), or `'read-only'`, all commands that only read.
 * Deny and ask rules ignore the directory in a program's name and the global options of git. An allow rule does not
 * reach through `sudo`, `su` or `ssh`.
 *
 * @example decide(analyze('git log -3'), { allow: ['git log:*'] }).verdict; // 'allow'
 * @param analysis from `analyze`; may have been through JSON.
 * @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for wrong types, an unknown list, and a rule that can match nothing,
 *   such as one in the syntax of another tool (`npm *`, `Bash(npm publish:*)`, `/npm/`), with the rule that was meant.
 */
declare function decide(analysis: Analysis, rules?: DecideRules): Decision;
/** Returns all rules of the engine, as docs/safety-rules.md lists them: a new array each time. */
declare function safetyRules(): SafetyRule[];
//#endregion
//#region ts/session.d.ts
/** The result of a command of a session. */
type SessionResult = BashResult & {
  /** The directory in which the next command of the session starts. */cwd: string;
};
/**
 * A shell that remembers: the directory, variables, arrays, functions, aliases, options and traps that a command leaves
 * are there for the next command. Each command still has a fresh shell, so `exit`, `exec`, a signal, a syntax error, a
 * limit or an abort end that command alone. The session keeps the state of the last command that ended by itself,
 * whatever its exit code. Jobs, `$!` and EXIT traps do not carry over.
 *
 * Commands run one after another in the order of the calls. A session begins with the environment at its construction.
 * Its state is kept in this process only.
 */
declare class BashSession {
  #private;
  /**
   * Starts no command. The options apply to each command; `cwd` is the directory in which the session begins. With
   * `confine`, the namespaces of its commands are made in the background.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for an option that does not exist or has the wrong type.
   *
   * @example await using session = new BashSession({ cwd: '/srv/project' });
   */
  constructor(options?: BashOptions);
  /** A copy of the options of the constructor. */
  get options(): Readonly<BashOptions>;
  /**
   * The directory in which the next command starts, absolute, as its shell calls it (links are not followed). On a pool
   * it is the option `cwd`, or `''`, until the first command has a place.
   */
  get cwd(): string;
  /**
   * Runs a command once the commands before it have ended. Resolves and rejects as `bash()` does, and rejects with
   * `ERR_BASH_CLOSED` after `close()`. `options` replace the session's options one by one, and `undefined` counts as
   * left out. `cwd` is where this command starts, relative to the session's directory, and `env` applies to this
   * command alone.
   *
   * A command that goes to the background takes its state from the session and leaves none. If the directory is gone,
   * the command runs in the session's first one, with a note.
   *
   * @example const { stdout, cwd } = await session.run('cd src && ls');
   */
  run(command: string, options?: BashOptions): Promise<SessionResult>;
  /**
   * Forgets everything: the next command starts as the first one did, in the first directory. Waits for its turn as a
   * command does. Rejects with `ERR_BASH_CLOSED` after `close()`.
   */
  reset(): Promise<void>;
  /**
   * Ends the running command, as an abort does, and forgets everything. Commands that wait for their turn reject with
   * `ERR_BASH_CLOSED`. May be called again.
   */
  close(): Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
//#endregion
//#region ts/shells.d.ts
/**
 * Starts a warm shell for the first command with these options. Later commands get theirs without a call. The options
 * that count are `cwd`, `env`, `inheritEnv`, `shell`, `merge`, `limits`, whether there is a `stdin`, and whether
 * changes are recorded (`receipt`, `undo`). With `confine` it makes the namespaces of the command as well.
 *
 * It waits for a place among the commands that run at once. Resolves with true once the shell is warm. Resolves with
 * false if commands with these options always start cold: with `warm: false`, AGENT_BASH_WARM=0, a shell other than
 * bash, `args`, a BASH_ENV or POSIXLY_CORRECT in the environment, on macOS, and on a system that lets no process write
 * to its child. Rejects as `bash()` does if nothing could be run.
 */
declare function warmUp(options?: BashOptions): Promise<boolean>;
/** Counts the warm shells of this process and the commands that used one. Starts nothing. */
declare function warmShells(): WarmShells;
//#endregion
//#region ts/index.d.ts
/**
 * Runs a command in a fresh, non-login bash. Resolves when the command has ended, with its output.
 *
 * A command that ran is never an error, whatever its exit code, and neither is a time limit or an abort. The promise
 * rejects with a `BashError` only if nothing could be run: `ERR_BASH_INVALID_ARG`, `ERR_BASH_CWD_NOT_FOUND`,
 * `ERR_BASH_CWD_NOT_DIRECTORY`, `ERR_BASH_SHELL_NOT_FOUND`, `ERR_BASH_SPAWN`, `ERR_BASH_UNSUPPORTED`, and
 * `ERR_BASH_BLOCKED`, with `findings`, if the safety engine denies the command. With `confine` it also rejects with
 * `ERR_BASH_CONFINEMENT`, with `missing`, if this machine cannot hold it, and with `undo.require` with `ERR_BASH_UNDO`
 * if the undo would not cover everything. With background tasks it also rejects with `ERR_BASH_TOO_MANY_TASKS` and
 * `ERR_BASH_CLOSED`. The function never throws synchronously, and its promise always
 * settles.
 *
 * @example const { stdout, exitCode } = await bash('git status --short', { cwd: '/srv/project' });
 * @param command reaches bash byte for byte, up to 64 MiB. A command over 131,071 bytes reaches it as a script.
 * @param options see `BashOptions`; all may be left out. Without `registry`, `mode: 'background'` and `onTimeout:
 * 'background'`, the command cannot go to the background, and `exitCode` is a number.
 */
declare function bash(command: string, options?: ForegroundOptions): Promise<BashEnded>;
declare function bash(command: string, options?: BashOptions): Promise<BashResult>;
/**
 * Connects to a machine or container, on which commands then run with the option `target`. It sends the host program of
 * this package there if it is missing, starts it, and keeps the connection until `close()`: through cuts of up to
 * `detachMs`, in which work goes on there and calls wait. See docs/remote.md.
 *
 * Rejects with `ERR_BASH_TARGET` and its `reason` if the target cannot be reached, and with `ERR_BASH_INVALID_ARG` for
 * an option that does not exist or has the wrong type, and for an address that a program could take for an option.
 *
 * @example await using target = await connect({ ssh: 'dev@build1', cwd: '/srv/project' });
 */
declare function connect(to: TargetAddress & ConnectOptions): Promise<Target>;
/**
 * Takes back what a run changed, and nothing else. A path that changed after the run is a conflict: the path stays, and
 * its state before the run is kept beside the store. Only things that the run created and that are unchanged since are
 * removed. Modes, links, empty directories and extended attributes are exact. Times are the times of the undo.
 *
 * Another undo in the same store is waited for. An undo that was killed is completed by the next call. Repeated, it
 * resolves empty. An undo is a run, too, and `undo(undoId)` undoes it.
 *
 * Rejects with `ERR_BASH_UNDO` if there is no point of this run, if it was evicted, or if the run still goes on: then
 * nothing is touched. Rejects with `ERR_BASH_INVALID_ARG` for a wrong type, never with a throw.
 *
 * @example const { restored, conflicts } = await undo(result.runId);
 * @param runId `result.runId`, the `runId` of an undo point, or an `undoId`.
 */
declare function undo(runId: string, options?: UndoRunOptions): Promise<Undone>;
/**
 * Lists the runs that can be undone, and those whose point was evicted, the newest first. Undos are runs, too: their
 * command is `undo RUN`. A run that still goes on is not listed.
 *
 * Points are kept for 7 days, up to `storeBytes`, and never in the last tenth of the disk. The oldest are evicted
 * first. Rejects with `ERR_BASH_UNDO` if the store cannot be read, and with `ERR_BASH_INVALID_ARG` for a wrong type.
 *
 * @example const [newest] = await undoPoints({ cwd: process.cwd() });
 */
declare function undoPoints(options?: UndoPointsOptions): Promise<UndoPoint[]>;
/**
 * Opens a draft: commands with it run in a copy-on-write view of a directory, at its own path, and what they change is
 * kept apart until `commit`. Copies nothing. Needs Linux with user namespaces, and an overlay on the file system of the
 * drafts. See docs/drafts.md.
 *
 * Rejects with `ERR_BASH_DRAFT` and its `reason` if the directory cannot be drafted, or there is no draft `id`, and
 * with `ERR_BASH_INVALID_ARG` for a wrong option. If this system has no overlay for it, the first command rejects, with
 * the reason `'unsupported'`.
 *
 * @example await using draft = await openDraft({ root: '/srv/project' });
 */
declare function openDraft(options?: DraftOptions): Promise<Draft>;
/**
 * Lists the drafts of this user on this machine, the newest first, whichever process has made them. Those that are no
 * longer kept are removed. Rejects with `ERR_BASH_INVALID_ARG` for a wrong option.
 *
 * @example const [newest] = await drafts({ root: '/srv/project' });
 */
declare function drafts(options?: ListDraftsOptions): Promise<DraftInfo[]>;
/**
 * Reads the ledger of this user, the newest entry first, with `follow` the oldest first and then entries as they are
 * written. A ledger that does not exist is empty. Damaged lines are passed over, and `agent-bash log` counts them.
 *
 * The iteration throws `ERR_BASH_INVALID_ARG` for an unknown option or a wrong type, and ends without an error when
 * `signal` aborts. Entries are kept for 90 days, and at most 256 MiB of them.
 *
 * @example for await (const { command, state } of readLedger({ failed: true, limit: 10 })) console.log(state, command);
 */
declare function readLedger(options?: ReadLedgerOptions): AsyncIterable<LedgerEntry>;
/** The three policies for output that is too long. `tail` is the default of `truncate`. */
declare const TRUNCATE: {
  /** The last 2000 lines or 50 KiB. */readonly tail: {
    readonly keep: "tail";
    readonly maxLines: 2000;
    readonly maxBytes: 51200;
  }; /** 4 KiB of each end, of a stream of more than 128 KiB. */
  readonly ends: {
    readonly keep: "ends";
    readonly maxBytes: 131072;
    readonly headBytes: 4096;
    readonly tailBytes: 4096;
  }; /** The first 30,000 characters. */
  readonly head: {
    readonly keep: "head";
    readonly maxChars: 30000;
  };
};
//#endregion
export { type Actor, type Analysis, type AnalyzeOptions, type AwsCredentials, type BackgroundCheck, type BackgroundCheckOptions, BackgroundRegistry, type BackgroundRegistryOptions, type BackgroundTask, type BackgroundWaitOptions, type BashBackgrounded, type BashEnded, BashError, type BashErrorCode, type BashLimits, type BashLost, type BashOptions, type BashPrompt, type BashResult, type BashRun, BashSession, type BashSnapshot, type BashTruncation, type BashUsage, type Change, type ChangeCounts, type Check, type CheckRun, type CommandOptions, type CommandRedirect, type CommandUnit, type Committed, type ConfineMissing, type ConfineNetwork, type ConfineOptions, type ConfinePart, type ConfineSetting, type ConfineSsh, type Confinement, type ConnectOptions, type ContainerAddress, type DecideRules, type Decision, type Denial, type DenialGrant, type Draft, type DraftChanges, type DraftChangesOptions, type DraftCommitOptions, type DraftDiffOptions, type DraftHandle, type DraftInfo, type DraftOptions, type DraftPaths, type DraftReadOptions, type DraftReason, type ElidedLines, type Evidence, type FileKind, type FileStat, type Finding, type Fleet, type ForegroundOptions, type ForwardedPort, type GitChange, type GrantedNetwork, type HighlightClass, type HighlightToken, type LedgerEntry, type LedgerState, type ListChecksOptions, type ListDraftsOptions, type Masked, type NativeOptions, type NotKnown, type Observed, type ObservedBlock, type ObservedCall, type ObservedDraft, type ObservedExit, type ObservedKill, type ObservedKind, type ObservedOutput, type ObservedReturn, type ObservedReuse, type ObservedRule, type ObservedStart, type ObservedTarget, type ObservedUndo, type OutputChunk, type OutputRange, OutputStore, type OutputStoreOptions, type Part, type PathReason, type PlaceStats, type PodAddress, type Port, type PortChanges, type ProvidedTarget, type PtyEnd, type PtyOptions, PtySession, type PtyWaitOptions, type ReadLedgerOptions, type ReadTestsOptions, type Receipt, type ReduceOptions, type ReduceTextOptions, type Rename, type ReuseOptions, type Reused, type RuleStats, type SafetyOptions, type SafetyRule, type SanitizeOptions, type Secret, type SecretPlace, type SecretUse, type SessionResult, type SignalName, type Since, type SpillOptions, type SshAddress, type StaleFile, type Standing, type Survivor, TRUNCATE, type Tap, type Target, type TargetAddress, type TargetEvent, type TargetInfo, type TargetListener, TargetPool, type TargetPoolOptions, type TargetProvider, type TargetReason, type TargetState, type TaskExitListener, type TaskName, type TaskOutputListener, type TaskRegistry, type TerminalCursor, type TerminalDataListener, type TerminalExit, type TerminalExitListener, type TerminalModes, type TerminalOptions, type TerminalScreen, type TerminalWaitOptions, type TerminalWaited, type TestCounts, type Truncate, type Truncation, type UndoConflict, type UndoCoverage, type UndoOptions, type UndoPoint, type UndoPointsOptions, type UndoRunOptions, type Undone, type Verdict, type View, type WarmShells, type Word, type WrapperKind, analyze, bash, connect, decide, defaultRegistry, drafts, estimateTokens, highlight, listChecks, openDraft, readLedger, readTests, reduceText, safetyRules, secretFor, undo, undoPoints, warmShells, warmUp };
