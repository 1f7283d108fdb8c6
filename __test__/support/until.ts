import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` gives something truthy, and gives that; fails, naming it, after a bound that only a hang reaches. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = condition.toString(),
  bound = 20_000,
): Promise<Exclude<T, false | undefined | null | '' | 0>> {
  const end = performance.now() + bound;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | undefined | null | '' | 0>;
    if (performance.now() > end) throw new Error(`not within ${bound} ms: ${what}`);
    await sleep(10);
  }
}

/** Fails when `promise` has not settled within a bound that only a hang reaches. */
export async function settles<T>(promise: Promise<T>, bound = 20_000): Promise<T> {
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

/** Runs `action` and gives its value with the time it took, in ms. */
export async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await action();
  return [value, performance.now() - start];
}
