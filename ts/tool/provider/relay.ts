import type { BashToolOutput, BashToolSnapshot } from '../types.ts';

/**
 * Runs one command to its end and yields each snapshot in the tool's form. The command ends when the iteration does.
 */
export async function* relay<T>(
  running: AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined>,
  show: (snapshot: BashToolSnapshot) => T,
): AsyncGenerator<T, BashToolOutput, undefined> {
  let step = await running.next();
  try {
    for (; !step.done; step = await running.next()) yield show(step.value);
    return step.value;
  } finally {
    if (!step.done) await running.return(undefined as never);
  }
}
