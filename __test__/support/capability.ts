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
  if (process.env.AGENT_BASH_CI !== '1' || elsewhere) return test.skip;
  return ((name: string) =>
    test(name, () => {
      throw new Error(`this machine was to have ${capability}`);
    })) as unknown as typeof test.skip;
}
