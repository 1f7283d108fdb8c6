import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A generous bound against a hang, in ms. A test that compares a time with it lets the fault wait for longer: 15 s or
 * without end. `promptly` and the benchmarks are for speed.
 */
export const HANG = 10_000;

/** The bound of a wait, in ms. On an emulated machine a confined command begins after seconds. */
export const WAIT = (process.env.AGENT_BASH_EMULATED === '1' ? 6 : 1) * 2 * HANG;

/** The bound of a connection to a target, in ms: the default on a real machine. */
export const CONNECTING = 1.5 * WAIT;

/** A time after which something ends on purpose, in ms: long enough for the test to do other things before. */
export const SOON = process.env.AGENT_BASH_EMULATED === '1' ? 5_000 : 300;

/** The time in ms that a call may take which has nothing to wait for. */
export const PROMPT = 1_500;

/** The longest pause between two looks at a condition, in ms. */
const PAUSE = 100;

/**
 * Waits until `condition` returns a truthy value, and returns that. Fails after a bound that only a hang reaches. A
 * condition that takes long, such as one that looks at all processes, is looked at less often.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = condition.toString(),
  bound = WAIT,
): Promise<Exclude<T, false | undefined | null | '' | 0>> {
  const end = performance.now() + bound;
  for (;;) {
    const begin = performance.now();
    const value = await condition();
    if (value) return value as Exclude<T, false | undefined | null | '' | 0>;
    const now = performance.now();
    if (now > end) throw new Error(`not within ${bound} ms: ${what}`);
    await sleep(Math.min(Math.max(10, 5 * (now - begin)), PAUSE));
  }
}

/** Fails if `promise` has not settled within a bound that only a hang reaches. */
export async function settles<T>(promise: Promise<T>, bound = WAIT): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${bound} ms`)), bound);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `action` and returns its value with the time it took, in ms. */
export async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await action();
  return [value, performance.now() - start];
}

/**
 * Runs `action` and returns its value with the CPU time that this process used meanwhile, in ms. Other work on the
 * machine hardly changes it.
 */
export function cpuTimed<T>(action: () => T): [T, number] {
  const start = process.cpuUsage();
  const value = action();
  const { user, system } = process.cpuUsage(start);
  return [value, (user + system) / 1_000];
}

/**
 * Runs `action` and returns its value. Fails if the fastest of three runs takes `PROMPT` ms or longer: a busy machine
 * delays some runs, a regression delays all of them.
 */
export async function promptly<T>(action: () => Promise<T>): Promise<T> {
  const times: number[] = [];
  while (times.length < 3) {
    const [value, time] = await timed(action);
    if (time < PROMPT) return value;
    times.push(Math.round(time));
  }
  throw new Error(`no run took less than ${PROMPT} ms: ${times.join(', ')} ms`);
}
