import type { Committed } from 'agent-bash';
import { EXIT, Failure, printJson, remark } from '../../console.ts';
import { interruptible } from '../../interruption.ts';
import { commitDraft } from '../commit.ts';
import { reopened } from '../open.ts';
import { sayNext } from '../summary.ts';
import { type Attempt, type AttemptFlags, discardAll, hasPassed } from './attempt.ts';
import { choose, isAsked } from './choose.ts';
import { type RaceOptions, race } from './race.ts';
import { show, showAll } from './show.ts';

interface TryFlags extends AttemptFlags {
  commit?: 'first' | 'none';
  keep?: boolean;
}

/** `agent-bash draft --try COMMAND...`: runs commands side by side, each in a new draft, and commits one of these. */
export async function tryAll(commands: string[], flags: TryFlags): Promise<void> {
  // For example from an unset variable: it would pass.
  if (commands.some((command) => command.trim() === '')) {
    throw new Failure('ERR_BASH_INVALID_ARG', '--try takes no empty command', EXIT.usage);
  }
  const attempts = commands.map((command, index): Attempt => {
    return { number: index + 1, command, draft: null, counts: null, result: null, refused: null };
  });
  const { signal, code } = interruptible();
  const onEnd = async (attempt: Attempt) => {
    if (!flags.json && !signal.aborted) await show(attempt);
  };
  try {
    const first = await raced(attempts, { flags, signal, isOver: flags.commit === 'first', onEnd }, flags);
    if (!signal.aborted) await finish(attempts, first, flags, signal);
  } finally {
    if (signal.aborted) await discardAll(attempts, flags);
  }
  process.exitCode = code() ?? process.exitCode;
}

/** Runs the commands. An error, for example of a directory that cannot be drafted, leaves no draft. */
async function raced(attempts: Attempt[], options: RaceOptions, flags: TryFlags): Promise<Attempt | null> {
  try {
    return await race(attempts, options);
  } catch (error) {
    await discardAll(attempts, flags);
    throw Failure.of(error, EXIT.notRun);
  }
}

/** Commits the chosen draft, discards the others, and says what is left. */
async function finish(attempts: Attempt[], first: Attempt | null, flags: TryFlags, signal: AbortSignal): Promise<void> {
  const { json, keep, commit = !json && isAsked() ? 'ask' : 'none' } = flags;
  if (!json) await showAll(attempts);
  const chosen = commit === 'first' ? first : commit === 'ask' ? await choose(attempts, flags, signal) : null;
  if (signal.aborted) return;
  process.exitCode = codeOf(attempts, chosen);
  const committed = chosen && (await commitOf(chosen, flags));
  // No draft was chosen, or a conflict has stopped the commit.
  const isOpen = commit === 'none' || (committed !== null && committed.conflicts.length > 0);
  const discarded = isOpen || keep ? 0 : await discardAll(attempts, flags);
  if (json) return printJson({ tries: attempts.map(forPrograms), chosen: chosen?.number ?? null, committed });
  if (discarded > 0) await remark(discarded === 1 ? 'discarded 1 draft' : `discarded ${discarded} drafts`);
  if (attempts.some(({ draft }) => draft !== null)) await sayNext('ID', flags);
}

function codeOf(attempts: readonly Attempt[], chosen: Attempt | null): number {
  if (attempts.every(({ result }) => result === null)) return EXIT.notRun;
  return chosen !== null || attempts.some(hasPassed) ? EXIT.done : EXIT.failed;
}

/** Commits the draft of an attempt. `null`: it has changed nothing. A conflict sets the exit code. */
async function commitOf(chosen: Attempt, flags: TryFlags): Promise<Committed | null> {
  if (chosen.draft === null) {
    if (!flags.json) await remark(`[${chosen.number}] has changed nothing: there is nothing to commit`);
    return null;
  }
  return reopened(chosen.draft, flags, async (draft) => {
    const committed = await commitDraft(draft, flags);
    if (draft.state === 'committed') chosen.draft = null;
    return committed;
  });
}

function forPrograms(attempt: Attempt) {
  const { command, draft, counts, result, refused } = attempt;
  const { message: error, code, findings } = refused ?? {};
  return { command, passed: hasPassed(attempt), draft, counts, result, refused: refused && { error, code, findings } };
}
