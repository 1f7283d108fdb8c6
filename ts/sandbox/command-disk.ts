import type { Input } from '../core/streams.ts';
import type { Disk, FileType } from './disk.ts';
import { failure, invalid, lostError } from './errors.ts';
import { type Content, cancelUnread, chunksOf } from './file.ts';
import type { Ended } from './output.ts';
import { codeOf } from './script.ts';
import { ByteStream } from './session/bytes.ts';
import type { Order, Started } from './start.ts';

/** Starts a command of ours in the world of a sandbox. */
export type Launch = (order: Order) => Started;

/** Exit codes by which the scripts report their findings. */
const MISSING = 40;
const FOLDER = 41;
const NO_FILE = 42;
const NO_FOLDER = 43;
const UNREADABLE = 44;

/** Exits with a code of its own if the path is no file. `$1` is the path. */
const ONLY_FILES = `[[ -d $1 ]] && exit ${FOLDER}
[[ -p $1 || -S $1 || -b $1 || ( -c $1 && $1 != /dev/null ) ]] && exit ${NO_FILE}
`;
const PROBE = `${ONLY_FILES}[[ -e $1 ]] || exit ${MISSING}
[[ -r $1 ]] || exit ${UNREADABLE}`;
const READ = `${PROBE}
exec cat -- "$1"`;
// The directory of a path without a slash at its end.
const WRITE = `${ONLY_FILES}up=\${1%/*}
[[ -d \${up:-/} ]] || mkdir -p -- "$up" || exit 1
[[ $2 ]] && umask 077
exec > "$1" || exit 1
[[ $2 ]] && { chmod -- "$2" "$1" || exit 1; }
exec cat`;
const MAKE = `[[ -d $1 ]] || exec mkdir -p -- "$1"`;
const STAT = `[[ -e $1 ]] || exit ${MISSING}
if [[ -f $1 ]]; then printf 'file '; elif [[ -d $1 ]]; then printf 'directory '; else printf 'other '; fi
stat -Lc %s -- "$1" 2> /dev/null || exec stat -Lf %z -- "$1"`;
const LIST = `[[ -e $1 ]] || exit ${MISSING}
[[ -d $1 ]] || exit ${NO_FOLDER}
[[ -r $1 && -x $1 ]] || exit ${UNREADABLE}
cd -- "$1" || exit 1
shopt -s nullglob dotglob
for name in *; do
  if [[ -L $name ]]; then type=symlink; elif [[ -f $name ]]; then type=file
  elif [[ -d $name ]]; then type=directory; else type=other; fi
  printf '%s\\0%s\\0' "$name" "$type"
done`;
const DELETE = `[[ -d $1 && ! -L $1 ]] && exit ${FOLDER}
[[ -e $1 || -L $1 ]] || exit ${MISSING}
exec unlink -- "$1"`;

/**
 * The files that the commands of a sandbox reach, through commands like them: in the world of a confinement, on a
 * target, or both. A file that they cannot change or read cannot be changed or read here either, and the private `/tmp`
 * is theirs. `denies` is what forbids it, in errors.
 */
export function commandDisk(launch: Launch, denies: string): Disk {
  const check = (path: string, ended: Exited) => checkExit(path, ended, denies);
  const run = (script: string, path: string, signal?: AbortSignal) => runScript(launch, script, [path], signal);
  return {
    async readable(path, signal) {
      const ended = await run(PROBE, path, signal);
      if (ended.exitCode === MISSING) return null;
      check(path, { ...ended, stderr: '' });
      return lazily(() => streamed(launch, path, check, signal));
    },

    async bytes(path, signal) {
      const ended = await run(READ, path, signal);
      if (ended.exitCode === MISSING) return null;
      check(path, ended);
      return new Uint8Array(ended.stdout);
    },

    async write(path, content, signal, mode) {
      const failing = new AbortController();
      try {
        check(
          path,
          await runScript(launch, WRITE, [path, mode?.toString(8) ?? ''], signal, { content, failed: failing.signal }),
        );
      } catch (error) {
        failing.abort(error);
        cancelUnread(content, error);
        throw error;
      }
    },

    async makeFolder(path) {
      check(path, await run(MAKE, path));
    },

    async stat(path) {
      const ended = await run(STAT, path);
      if (ended.exitCode === MISSING) return null;
      check(path, ended);
      const [type, size] = ended.stdout.toString().trim().split(' ');
      return { type: type as FileType, size: Number(size) };
    },

    async list(path) {
      const ended = await run(LIST, path);
      if (ended.exitCode === MISSING) return null;
      check(path, ended);
      const words = ended.stdout.toString().split('\0').slice(0, -1);
      return words.flatMap((name, at) => (at % 2 ? [] : [{ name, type: words[at + 1] as FileType | 'symlink' }]));
    },

    async delete(path) {
      const ended = await run(DELETE, path);
      if (ended.exitCode === MISSING) return false;
      check(path, ended);
      return true;
    },
  };
}

/** The standard input of a script, until `failed` is aborted. */
interface Feed {
  content: Content;
  failed: AbortSignal;
}

/** How a script has ended. */
interface Exited extends Pick<Ended, 'exitCode' | 'lost'> {
  stderr: string;
}

interface Ran extends Exited {
  stdout: Buffer;
}

async function runScript(
  launch: Launch,
  script: string,
  args: string[],
  signal: AbortSignal | undefined,
  fed?: Feed,
): Promise<Ran> {
  signal?.throwIfAborted();
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  const order = scriptOrder(script, args, signal, ({ stream, text }) => {
    chunks[stream].push(Buffer.from(text, 'latin1'));
  });
  let feeding: Promise<void> = Promise.resolve();
  let failed: (error: unknown) => void = () => {};
  const fault = new Promise<never>((_, reject) => {
    failed = reject;
  });
  fault.catch(() => {});
  const started = launch({
    ...order,
    streams: {
      bytes: true,
      fed: fed !== undefined,
      over: () => {},
      started: (_, input) => {
        if (fed) feeding = feed(input, fed, signal).catch((error) => failed(error));
      },
    },
  });
  try {
    const { exitCode, lost } = await Promise.race([started.ended, fault]);
    // A failed script reads no further, and its stream may stay silent forever.
    if (exitCode === 0) await feeding;
    signal?.throwIfAborted();
    const stderr = Buffer.concat(chunks.stderr).toString();
    return { exitCode, lost, stdout: Buffer.concat(chunks.stdout), stderr };
  } catch (error) {
    started.abort();
    signal?.throwIfAborted();
    throw error;
  }
}

function scriptOrder(
  command: string,
  args: string[],
  signal: AbortSignal | undefined,
  onOutput: Order['onOutput'],
): Order {
  // A path that begins with a dash or holds anything else is data here.
  return { command, args, env: { LC_ALL: 'C' }, signal, onOutput };
}

async function feed(input: Input, { content, failed }: Feed, signal: AbortSignal | undefined): Promise<void> {
  const ended = signal ? AbortSignal.any([signal, failed]) : failed;
  try {
    if (typeof content === 'string') await input.write(Buffer.from(content));
    else if (content instanceof Uint8Array) await input.write(content);
    else {
      for await (const chunk of chunksOf(content, ended)) {
        if (!(await input.write(chunk))) break;
      }
    }
  } finally {
    input.end();
  }
}

/** Returns a stream that starts at its first read. */
function lazily(make: () => ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= make().getReader();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Returns the bytes of a file as they are read. An error of the command errors the stream. */
function streamed(
  launch: Launch,
  path: string,
  check: (path: string, ended: Exited) => void,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const bytes = new ByteStream();
  let stderr = '';
  const started = launch({
    ...scriptOrder(READ, [path], signal, ({ stream, text }) => {
      if (stream === 'stdout') return bytes.push(Buffer.from(text, 'latin1'));
      stderr += text;
    }),
    streams: { bytes: true, fed: false, over: () => {} },
  });
  let fault: unknown;
  const ended = started.ended
    .then(({ exitCode, lost, aborted }) => {
      if (aborted) signal?.throwIfAborted();
      check(path, { exitCode, lost, stderr });
    })
    .catch((error) => {
      fault = error;
    })
    .finally(() => bytes.close());
  const reader = bytes.stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        // The command may have ended before the abort, with all that is left here.
        signal?.throwIfAborted();
        if (!done) return controller.enqueue(value);
        await ended;
        if (fault !== undefined) throw fault;
        controller.close();
      },
      async cancel() {
        started.abort();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Throws the error that a script reports by its exit code. */
function checkExit(path: string, { exitCode, lost, stderr }: Exited, denies: string): void {
  if (lost !== null) throw lostError(lost, `it may have been changed, or not: ${path}`);
  switch (exitCode) {
    case 0:
      return;
    case FOLDER:
      throw failure('EISDIR', `is a directory, not a file: ${path}`);
    case NO_FILE:
      throw failure('EINVAL', `is a pipe, a socket or a device, not a file: ${path}`);
    case NO_FOLDER:
      throw failure('ENOTDIR', `is not a directory: ${path}`);
    case UNREADABLE:
      throw failure('EACCES', `${denies} not let it be read: ${path}`);
    case MISSING:
      throw failure('ENOENT', `no such file or directory: ${path}`);
  }
  const code = codeOf(stderr);
  const denied = code === 'EROFS' || code === 'EACCES' || code === 'EPERM';
  if (denied) throw failure(code, `${denies} not let it be changed: ${path}`);
  if (code !== undefined) throw failure(code, `${stderr.trim()}`);
  throw invalid(
    `the file could not be used (exit code ${exitCode}): ${path}${stderr === '' ? '' : `: ${stderr.trim()}`}`,
  );
}
