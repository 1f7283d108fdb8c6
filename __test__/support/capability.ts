import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';

export const isLinux = process.platform === 'linux';
export const isRoot = process.getuid?.() === 0;

/** Whether a program of that name is on the PATH. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((path) => {
    try {
      accessSync(join(path, name), constants.X_OK);
      return statSync(join(path, name)).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * A test that only Linux can show, as its name says. Under AGENT_BASH_CI=1 it runs wherever the platform is Linux,
 * and cannot be skipped there.
 */
export const linuxTest = test.runIf(isLinux);

/**
 * A test that needs something of the machine: skipped without it, but a failure under AGENT_BASH_CI=1, so that a skip
 * cannot pass for a success.
 */
export function testNeeding(capability: string, there: boolean, onlyIn: NodeJS.Platform | 'any' = 'any') {
  if (there) return test;
  const elsewhere = onlyIn !== 'any' && onlyIn !== process.platform;
  if (process.env.AGENT_BASH_CI !== '1' || elsewhere) return skippedWithout(capability);
  return ((name: string) =>
    test(name, () => {
      throw new Error(`this machine was to have ${capability}`);
    })) as unknown as typeof test.skip;
}

type Declare = (name: string, ...rest: unknown[]) => void;

/** A test that is skipped. Its name says what is missing, which `npm run machines` reports. */
export function skippedWithout(capability: string) {
  const named = (name: string) => `${name} [needs ${capability}]`;
  const skip = (name: string, ...rest: unknown[]) => (test.skip as Declare)(named(name), ...rest);
  return Object.assign(skip, {
    each:
      (...rows: unknown[]) =>
      (name: string, ...rest: unknown[]) =>
        (test.skip.each as (...rows: unknown[]) => Declare)(...rows)(named(name), ...rest),
  }) as unknown as typeof test.skip;
}

/**
 * A test of what ends within the tenth of a second for which the result of a command waits: an emulated machine starts
 * no program in that time.
 */
export const promptTest =
  process.env.AGENT_BASH_EMULATED === '1' ? skippedWithout('the speed of a real processor') : linuxTest;

/** A test that needs root. */
export const rootTest = isRoot ? linuxTest : skippedWithout('root');
