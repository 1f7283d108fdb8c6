import { type BashError, type BashOptions, type BashResult, bash, type ChangeCounts, openDraft } from 'agent-bash';
import { innerOf } from '../../../core/inner.ts';
import { type CredentialFlags, credentialsOf } from '../../confine.ts';
import { ledger } from '../../run.ts';
import { type DraftFlags, reopened } from '../open.ts';
import { discardEmpty } from '../summary.ts';

/** Options of the drafts in which commands are tried. */
export interface AttemptFlags extends DraftFlags, CredentialFlags {
  root?: string;
  network?: string[];
}

/** One of the commands, and how it went in a draft of its own. */
export interface Attempt {
  /** The place in the list of commands, from 1. */
  readonly number: number;
  readonly command: string;
  /** The id of the draft, as long as there is one: without changes it is discarded. */
  draft: string | null;
  counts: ChangeCounts | null;
  /** `null`: the command did not run. */
  result: BashResult | null;
  /** Why the safety engine has refused the command. */
  refused: BashError | null;
}

/** The longest name of a draft. */
const LONGEST_NAME = 80;
/** The end of an output that is shown. The file that the notice names has the whole. */
const SHOWN: BashOptions = { merge: true, truncate: { keep: 'tail', maxBytes: 1024 ** 2 } };

/** Runs a command in a new draft. `ended` is called with the result, before the draft is looked at. */
export async function runAttempt(
  attempt: Attempt,
  flags: AttemptFlags,
  signal: AbortSignal,
  ended: () => void,
): Promise<void> {
  const { command } = attempt;
  const { facts, redact } = innerOf(bash);
  const { root, dir, network } = flags;
  // No name ends within a character.
  const name = redact(command)
    .slice(0, LONGEST_NAME)
    .replace(/[\ud800-\udbff]$/, '');
  const confine = { ...(network && { network: { allow: network } }), ...credentialsOf(flags) };
  const draft = await openDraft({ name, root, dir, confine });
  attempt.draft = draft.id;
  try {
    const timeoutMs = facts().request.maxLimitMs;
    attempt.result = await bash(command, { draft, timeoutMs, ledger: ledger(), signal, ...(!flags.json && SHOWN) });
    ended();
  } catch (error) {
    if ((error as BashError).code !== 'ERR_BASH_BLOCKED') throw error;
    attempt.refused = error as BashError;
  } finally {
    // A process that the command has left would be in the way of a commit.
    await draft.close();
  }
  await reopened(draft.id, flags, async (draft) => {
    attempt.counts = (await draft.changes({ list: 0 })).counts;
    if (await discardEmpty(draft)) attempt.draft = null;
  });
}

/** Returns whether the command has ended by itself, with the exit code 0. */
export function hasPassed({ result }: Attempt): boolean {
  return result?.status === 'exited' && result.exitCode === 0;
}

/** Discards the drafts of attempts, if there are any. Returns how many it has discarded. */
export async function discardAll(attempts: readonly Attempt[], flags: DraftFlags): Promise<number> {
  const left = attempts.filter(({ draft }) => draft !== null);
  for (const attempt of left) {
    await reopened(String(attempt.draft), flags, (draft) => draft.discard());
    attempt.draft = null;
  }
  return left.length;
}
