import { availableParallelism } from 'node:os';
import { bash, type Target } from 'agent-bash';

/** A call of a program of a cluster, such as kubectl. */
export interface ProgramCall {
  /** The program with its arguments. */
  argv: readonly string[];
  /** What the program reads. */
  stdin?: string | undefined;
  /** Variables over those of this process. */
  env?: Record<string, string | null> | undefined;
  /** Time the program may take. */
  timeoutMs: number;
  /** The target on which it runs. Left out: this machine. */
  target?: Target | undefined;
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Receives each line of the standard output as soon as it is there. */
  onLine?: ((line: string) => void) | undefined;
}

/** How a call ended. */
export interface ProgramAnswer {
  /** Whether the program exited with 0. */
  ok: boolean;
  /** Whether it took longer than its time. */
  timedOut: boolean;
  /** How long it waited for its turn, ms. */
  waitedMs: number;
  stdout: string;
  stderr: string;
}

/**
 * Programs that run at once. Each takes some tenths of a second of a processor: with more, all of them would be late.
 * Those that follow something for a while are not counted.
 */
const AT_ONCE = 2 * availableParallelism();

let running = 0;
const waiting: (() => void)[] = [];

/** The most of each stream that is kept, in UTF-16 units. */
const MOST_KEPT = 8 * 1024 * 1024;

/**
 * Runs a program with the whole environment of this process, as the transport to the place has it. When this process
 * ends, the program ends, too. The time that it may take begins when it is its turn.
 */
export async function callProgram(call: ProgramCall): Promise<ProgramAnswer> {
  if (call.onLine) return { ...(await run(call)), waitedMs: 0 };
  const asked = performance.now();
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  const waitedMs = performance.now() - asked;
  try {
    return { ...(await run(call)), waitedMs };
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

async function run(call: ProgramCall): Promise<Omit<ProgramAnswer, 'waitedMs'>> {
  const { argv, stdin, env, timeoutMs, target, signal, onLine } = call;
  const kept = { stdout: '', stderr: '' };
  let line = '';
  const { status, exitCode } = await bash('exec -- "$@"', {
    args: [...argv],
    stdin,
    env,
    timeoutMs,
    target,
    signal,
    inheritEnv: 'all',
    safety: 'off',
    ledger: false,
    onTimeout: 'kill',
    sanitize: false,
    spill: false,
    // All output arrives at the listener.
    truncate: { keep: 'tail', maxBytes: 1 },
    onOutput: ({ stream, text }) => {
      if (kept[stream].length < MOST_KEPT) kept[stream] += text;
      if (stream !== 'stdout' || onLine === undefined) return;
      const lines = (line + text).split('\n');
      line = lines.pop() ?? '';
      for (const each of lines) onLine(each);
    },
  });
  return { ok: status === 'exited' && exitCode === 0, timedOut: status === 'timed-out', ...kept };
}
