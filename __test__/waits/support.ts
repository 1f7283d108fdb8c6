import { type BashOptions, type BashResult, bash, PtySession } from 'agent-bash';
import { hasProgram } from '../support/index.ts';

/** Whether it can be known here who waits for what, and there is what most of these commands are made of. */
export const canWait = process.platform === 'linux' && hasProgram('python3');

/** A command in a terminal to which nobody types. */
export async function inTerminal(command: string, options: BashOptions): Promise<BashResult> {
  const pty = new PtySession(common(options));
  await pty.start(command);
  return pty.result();
}

/** A command without one. */
export function run(command: string, options: BashOptions): Promise<BashResult> {
  return bash(command, common(options));
}

function common(options: BashOptions): BashOptions {
  const env = { HOME: options.cwd, ...options.env };
  return { safety: 'off', graceMs: 100, timeoutMs: 2000, ...options, env };
}

/**
 * A command that comes to wait, with its limit; once more with a long one where it had not come to that yet: on a busy machine an
 * interpreter or a connection may need its time.
 */
export async function waiting(go: typeof run, command: string, options: BashOptions): Promise<BashResult> {
  const result = await go(command, options);
  return waits(result).length > 0 ? result : go(command, { ...options, timeoutMs: 20_000 });
}

/** What a result says of who waits. */
export function waits(result: BashResult): string[] {
  return result.notes.filter((note) => /^(waiting for|stopped:)/.test(note));
}

/** Does something with each of them, a few at a time: they wait more than they work. */
export async function each<T>(items: readonly T[], atOnce: number, action: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
