import { type BashOptions, type BashResult, bash, PtySession } from 'agent-bash';
import { hasProgram } from '../../support/index.ts';

/** Whether blocked processes can be found here, and the programs of most of these commands exist. */
export const canWait = process.platform === 'linux' && hasProgram('python3');

/** A command in a terminal without input. */
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
 * Runs a command that gets blocked, with its limit. If it was not blocked in time, runs it again with a long limit: on
 * a busy machine an interpreter or a connection may need more time.
 */
export async function waiting(go: typeof run, command: string, options: BashOptions): Promise<BashResult> {
  const result = await go(command, options);
  return waits(result).length > 0 ? result : go(command, { ...options, timeoutMs: 20_000 });
}

/** The part of a result that names the blocked process. */
export function waits(result: BashResult): string[] {
  return result.notes.filter((note) => /^(waiting for|stopped:)/.test(note));
}

/** Processes the items a few at a time: they wait more than they work. */
export async function each<T>(items: readonly T[], atOnce: number, action: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
