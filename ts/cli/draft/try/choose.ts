import { createInterface } from 'node:readline';
import { remark } from '../../console.ts';
import { diff } from '../changes.ts';
import type { DraftFlags } from '../open.ts';
import type { Attempt } from './attempt.ts';

/** Returns whether there is a person to ask. */
export const isAsked = () => process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Asks which draft is to be committed, and shows changes until there is an answer. `null`: none. */
export async function choose(
  attempts: readonly Attempt[],
  flags: DraftFlags,
  signal: AbortSignal,
): Promise<Attempt | null> {
  const choices = attempts.filter(({ draft }) => draft !== null);
  const [first] = choices;
  if (first === undefined) return null;
  const { stdin: input, stdout: output } = process;
  const terminal = createInterface({ input, output, signal });
  // The terminal is raw, so that Ctrl-C sends no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const numbers = choices.map(({ number }) => number).join(', ');
  terminal.setPrompt(`Commit ${numbers}, show the changes (d${first.number}), or none? [none] `);
  terminal.prompt();
  try {
    for await (const line of terminal) {
      if (/^\s*(n|no|none|0)?\s*$/i.test(line)) return null;
      const [, shows, number] = /^\s*(d|diff)?\s*(\d+)\s*$/i.exec(line) ?? [];
      const chosen = choices.find((choice) => choice.number === Number(number));
      if (chosen === undefined) await remark('there is no such draft');
      else if (shows === undefined) return chosen;
      else await diff(String(chosen.draft), flags);
      terminal.prompt();
    }
    return null;
  } finally {
    terminal.close();
  }
}
