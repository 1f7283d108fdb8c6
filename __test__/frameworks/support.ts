import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { alive, until } from '../support/index.ts';

/** A command whose child holds the output open, in a session of its own. It writes its pid to `FOLDER/pid`. */
export const HELD_PIPE = 'echo first; setsid sleep 1000 & echo $! > pid; echo last';

/** A command that goes on, with a child in a session of its own. */
export const WITH_CHILD = 'setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid; echo started; sleep 1000';

/** Returns the pid that a command wrote. */
export async function pidIn(folder: string): Promise<number> {
  const file = join(folder, 'pid');
  await until(() => existsSync(file), 'the command has written its pid');
  return Number(await until(async () => (await readFile(file, 'utf8')).trim() || undefined, 'the pid'));
}

/** Waits until a process is gone. */
export async function gone(pid: number): Promise<void> {
  await until(() => !alive(pid), `process ${pid} is gone`);
}

/** Asserts that a call throws a `BashError` with this code. */
export function refuses(call: () => unknown, code: string, words: string | RegExp): void {
  expect(call).toThrow(expect.objectContaining({ code, message: expect.stringMatching(words) }));
}
