import { decoder, type Input } from '../../core/streams.ts';
import { failure, invalid } from '../errors.ts';
import { factsOf, guarded, type Listener } from '../output.ts';
import { type Started, start } from '../start.ts';
import { ByteStream } from './bytes.ts';
import type { Current } from './current.ts';
import type { SandboxProcess, SandboxSpawnOptions, WritableSandboxProcess } from './types.ts';

/**
 * Starts a command with the options of now, whose streams the caller reads directly. `add` tracks it. Resolves once it
 * runs.
 */
export async function spawnProcess(
  now: Current,
  options: SandboxSpawnOptions,
  add: (started: Started) => Started,
): Promise<SandboxProcess | WritableSandboxProcess> {
  const { abortSignal, stdin = false } = options;
  const output = new Output();
  let input: Input | undefined;
  const started = add(
    startInto(now, options, output, (given) => {
      input = given;
    }),
  );
  const closed = started.ended.finally(() => output.close());
  const ended = closed.then((end) => {
    if (end.aborted) for (const signal of [abortSignal, now.base.signal]) signal?.throwIfAborted();
    return { exitCode: end.exitCode, ...factsOf(end) };
  });
  // An unobserved rejection must not crash the host.
  ended.catch(() => {});
  const pid = await started.pid;
  if (pid === null || input === undefined) {
    await ended;
    throw failure('ABORT_ERR', 'the command was ended before it had been started');
  }
  const process: SandboxProcess = {
    pid,
    stdout: output.stdout.stream,
    stderr: output.stderr.stream,
    wait() {
      output.waited();
      return ended;
    },
    async kill() {
      started.abort();
      await closed.catch(() => {});
    },
  };
  return stdin ? { ...process, stdin: writing(input) } : process;
}

/** The two streams that the caller reads. */
class Output {
  readonly stdout = new ByteStream();
  readonly stderr = new ByteStream();

  /** Reports that the caller waits for the exit. */
  waited(): void {
    this.stdout.waited();
    this.stderr.waited();
  }

  close(): void {
    this.stdout.close();
    this.stderr.close();
  }
}

/** Starts the command with its output going into `output`. `onInput` receives its standard input once it runs. */
function startInto(
  { base, ready, env }: Current,
  { command, workingDirectory, abortSignal, stdin = false }: SandboxSpawnOptions,
  output: Output,
  onInput: (input: Input) => void,
): Started {
  // Output that the caller wants cleaned is already text.
  const bytes = (base.sanitize ?? false) === false;
  const tellCaller = base.onOutput && asText(guarded(base.onOutput), bytes);
  return start(
    base,
    {
      command,
      cwd: workingDirectory,
      env,
      signal: abortSignal,
      onOutput: async (chunk) => {
        await tellCaller?.(chunk);
        await output[chunk.stream].push(Buffer.from(chunk.text, bytes ? 'latin1' : 'utf8'));
      },
      streams: {
        bytes,
        fed: stdin,
        started: (_, given) => onInput(given),
        over: () => output.waited(),
      },
    },
    ready,
  );
}

/** Adapts the caller's output listener, which receives text, to bytes. */
function asText(listener: Listener, bytes: boolean): Listener {
  if (!bytes) return listener;
  const decoded = decoder();
  return (chunk) => {
    const text = decoded(chunk);
    return text.text === '' ? undefined : listener(text);
  };
}

function writing(input: Input): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      if (!(chunk instanceof Uint8Array)) throw invalid('stdin takes chunks of Uint8Array');
      const taken = await input.write(chunk);
      if (!taken) throw failure('EPIPE', 'the command does not read its standard input any more');
    },
    close: () => input.end(),
    abort: () => input.end(),
  });
}
