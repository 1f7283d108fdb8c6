import { decoder, type Input } from '../../streams.ts';
import type { Base } from '../base.ts';
import { failure, invalid } from '../errors.ts';
import { guarded, type Listener } from '../output.ts';
import { type Started, start } from '../start.ts';
import { ByteStream } from './bytes.ts';
import type { SandboxProcess, SandboxSpawnOptions, WritableSandboxProcess } from './types.ts';

/** Starts a command whose streams the caller has as such; `add` counts it in. Resolves once it runs. */
export async function spawnProcess(
  base: Base,
  { command, workingDirectory, env, abortSignal, stdin = false }: SandboxSpawnOptions,
  add: (started: Started) => Started,
): Promise<SandboxProcess | WritableSandboxProcess> {
  const streams = { stdout: new ByteStream(), stderr: new ByteStream() };
  const waited = () => {
    streams.stdout.waited();
    streams.stderr.waited();
  };
  // Output that the caller wants cleaned is text by then.
  const bytes = (base.sanitize ?? false) === false;
  const tellCaller = base.onOutput && asText(guarded(base.onOutput), bytes);
  let input: Input | undefined;
  const started = add(
    start(base, {
      command,
      cwd: workingDirectory,
      env,
      signal: abortSignal,
      onOutput: async (chunk) => {
        await tellCaller?.(chunk);
        await streams[chunk.stream].push(Buffer.from(chunk.text, bytes ? 'latin1' : 'utf8'));
      },
      streams: {
        bytes,
        fed: stdin,
        started: (_, given) => {
          input = given;
        },
        over: waited,
      },
    }),
  );
  const closed = started.ended.finally(() => {
    streams.stdout.close();
    streams.stderr.close();
  });
  const ended = closed.then(({ exitCode, aborted }) => {
    if (aborted) for (const signal of [abortSignal, base.signal]) signal?.throwIfAborted();
    return { exitCode };
  });
  // Who does not wait does not hear of it.
  ended.catch(() => {});
  const pid = await started.pid;
  if (pid === null || input === undefined) {
    await ended;
    throw failure('ABORT_ERR', 'the command was ended before it had been started');
  }
  const process: SandboxProcess = {
    pid,
    stdout: streams.stdout.stream,
    stderr: streams.stderr.stream,
    wait() {
      waited();
      return ended;
    },
    async kill() {
      started.abort();
      await closed.catch(() => {});
    },
  };
  return stdin ? { ...process, stdin: writing(input) } : process;
}

/** The caller's listener of output, for whom bytes are text. */
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
