import type { BashToolOutput, BashToolSnapshot } from '../ai/types.ts';

/** One command of ours to its end, each snapshot as a tool shows it. The command ends with the iteration. */
export async function* shown<T>(
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
