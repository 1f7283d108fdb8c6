import { constants } from 'node:os';
import { type BashResult, bash } from 'agent-bash';
import { EXIT, Failure, print, printJson, readerGone, remark, write } from './console.ts';
import { type CommonOptions, withRegistry } from './tasks.ts';

/** As long as a task may run. */
const NO_LIMIT_MS = 86_400_000;

interface RunOptions extends CommonOptions {
  background?: boolean;
  timeout?: number;
  cwd?: string;
}

/** `agent-bash run CMD`: in the foreground, with its output as it comes, or as a task. */
export async function run(command: string, options: RunOptions): Promise<void> {
  try {
    await (options.background ? start(command, options) : foreground(command, options));
  } catch (error) {
    throw Failure.of(error, EXIT.notRun);
  }
}

async function start(command: string, options: RunOptions): Promise<void> {
  const { timeout: timeoutMs, cwd } = options;
  const task = await withRegistry(options, (registry) => registry.start(command, { timeoutMs, cwd }), { make: true });
  if (options.json) return printJson(task);
  const dir = options.dir === undefined ? '' : ` --dir ${shellWord(options.dir)}`;
  await print(`started ${task.pid}`);
  await print(`output: ${task.logPath}`);
  await print(`follow: agent-bash logs -f ${task.pid}${dir}`);
  await print(`stop:   agent-bash kill ${task.pid}${dir}`);
}

async function foreground(command: string, { timeout, cwd, json }: RunOptions): Promise<void> {
  const { signal, interruption } = interruptible();
  const result = await bash(command, {
    cwd,
    timeoutMs: timeout ?? NO_LIMIT_MS,
    signal,
    ...(!json && {
      // All of it has been printed: nothing needs to be kept, and a line is shown before it ends.
      spill: false,
      truncate: { keep: 'tail', maxLines: 1 },
      sanitize: { progress: 'keep' },
      onOutput: ({ stream, text }) => write(process[stream], text),
    }),
  });
  if (json) await printJson(result);
  else await explain(result);
  process.exitCode = readerGone.signal.aborted ? EXIT.brokenPipe : (interruption() ?? result.exitCode ?? EXIT.failed);
}

/** What the output does not say. */
async function explain({ status, signal, timeoutMs, survivors, notes }: BashResult): Promise<void> {
  if (status === 'timed-out') await remark(`timed out after ${(timeoutMs ?? 0) / 1_000} s`);
  if (status === 'signaled') await remark(`killed by ${signal}`);
  for (const { pid, command } of survivors) await remark(`still running: ${pid} ${command}`);
  for (const note of notes) await remark(note);
}

/** The first Ctrl-C ends the command with all it started; a second one does not wait for that. */
function interruptible(): { signal: AbortSignal; interruption: () => number | undefined } {
  let code: number | undefined;
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (code !== undefined) process.exit(code);
      code = 128 + constants.signals[name];
      ending.abort();
    });
  }
  readerGone.signal.addEventListener('abort', () => ending.abort());
  return { signal: ending.signal, interruption: () => code };
}

function shellWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
