import { relative } from 'node:path';
import type { Committed, Draft, DraftCommitOptions } from 'agent-bash';
import { complain, EXIT, Failure, paint, print, printable, printJson } from '../console.ts';
import { type DraftFlags, type PathFlags, pathsOf, withDraft, wordsOf } from './open.ts';

interface CommitFlags extends PathFlags {
  onConflict?: 'stop' | 'skip' | 'merge';
  dryRun?: boolean;
}

/** `agent-bash draft commit ID`: moves the changes into the project. */
export async function commit(name: string, flags: CommitFlags): Promise<void> {
  const { onConflict, dryRun } = flags;
  const options = { ...pathsOf(flags), onConflict, dryRun };
  await withDraft(name, flags, async (draft) => {
    const committed = await commitDraft(draft, flags, options);
    if (flags.json) await printJson(committed);
  });
}

/** Commits a draft, and reports it to people. Conflicts set the exit code. */
export async function commitDraft(draft: Draft, flags: CommitFlags, options?: DraftCommitOptions): Promise<Committed> {
  const committed = await draft.commit(options);
  // Scripts must notice that nothing was committed.
  if (committed.conflicts.length > 0) process.exitCode = EXIT.failed;
  if (!flags.json) for (const line of report(committed, draft, flags)) await print(line);
  return committed;
}

/** The committed paths that are named. */
const NAMED = 10;

function report({ applied, skipped, conflicts, undoId }: Committed, draft: Draft, flags: CommitFlags): string[] {
  const shown = (path: string) => relative(draft.root, path);
  const { length } = applied;
  const count = `${length} ${length === 1 ? 'path' : 'paths'}`;
  const words = wordsOf(flags);
  return [
    ...(length > 0 ? [`${paint('green', flags.dryRun ? 'would commit' : 'committed')}  ${count}`] : []),
    ...applied.slice(0, NAMED).map((path) => `  ${printable(shown(path))}`),
    ...(length > NAMED ? [`  … ${length - NAMED} more`] : []),
    ...skipped.map(({ path, why }) => `${paint('yellow', 'skipped')}  ${printable(`${shown(path)}: ${why}`)}`),
    ...conflicts.map(({ path, why, keptAt }) => {
      const kept = keptAt === null ? '' : `; the draft's side is kept at ${keptAt}`;
      return `${paint('red', 'conflict')}  ${printable(`${shown(path)}: ${why}${kept}`)}`;
    }),
    ...(conflicts.length > 0
      ? [`nothing was committed; without these: agent-bash draft commit ${draft.id} --on-conflict skip${words}`]
      : []),
    ...(length + skipped.length + conflicts.length === 0 ? ['nothing to commit'] : []),
    ...(undoId === '' ? [] : [`to undo this: agent-bash undo ${undoId}`]),
    ...(length > 0 && !flags.dryRun && draft.state === 'open'
      ? [`the rest stays in the draft: agent-bash draft changes ${draft.id}${words}`]
      : []),
  ];
}

/** `agent-bash draft discard ID...`: removes drafts. A missing or failing one does not affect the others. */
export async function discard(names: string[], flags: DraftFlags): Promise<void> {
  for (const name of names) {
    try {
      await withDraft(name, flags, async (draft) => {
        await draft.discard();
        await (flags.json ? printJson({ discarded: draft.id }) : print(`discarded ${draft.id}`));
      });
    } catch (error) {
      process.exitCode = EXIT.failed;
      await complain(Failure.of(error));
    }
  }
}
