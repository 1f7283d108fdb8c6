import { type BashError, type ConfineOptions, type Draft, drafts, openDraft } from 'agent-bash';
import { EXIT, Failure } from '../console.ts';
import { spaced } from '../destination.ts';

/** Options of all verbs. */
export interface DraftFlags {
  dir?: string;
  json?: boolean;
}

/** Options of the verbs that work on some paths. */
export interface PathFlags extends DraftFlags {
  path?: string[];
}

/**
 * Calls `use` with the draft that an id or its beginning names, which is closed at the end. `credentials` are those of
 * this process for commands.
 */
export async function withDraft(
  name: string,
  flags: DraftFlags,
  use: (draft: Draft) => Promise<void>,
  credentials: ConfineOptions = {},
): Promise<void> {
  try {
    await reopened(await idOf(name, flags), flags, use, credentials);
  } catch (error) {
    // A path that does not belong to the draft.
    throw (error as BashError).code === 'ERR_BASH_INVALID_ARG' ? Failure.of(error, EXIT.usage) : error;
  }
}

/** Calls `use` with the draft of an id, which is closed at the end, and returns what it returns. */
export async function reopened<T>(
  id: string,
  { dir }: DraftFlags,
  use: (draft: Draft) => Promise<T>,
  confine: ConfineOptions = {},
): Promise<T> {
  const draft = await openDraft({ id, dir, confine });
  try {
    return await use(draft);
  } finally {
    await draft.close();
  }
}

async function idOf(name: string, flags: DraftFlags): Promise<string> {
  const found = (await drafts({ dir: flags.dir }))
    .map(({ id }) => id)
    .filter((id) => name !== '' && id.startsWith(name));
  const [first, second] = found.includes(name) ? [name] : found;
  if (first !== undefined && second === undefined) return first;
  const list = `\`agent-bash draft list${wordsOf(flags)}\` lists the drafts`;
  const text =
    first === undefined
      ? `there is no draft ${JSON.stringify(name)}: ${list}`
      : `${JSON.stringify(name)} is the beginning of several ids, name one of them: ${found.join(', ')}`;
  throw new Failure('ERR_BASH_DRAFT', text, EXIT.failed, { reason: 'unknown' });
}

/** Returns the words that name the same directory in another call, each behind a space. */
export function wordsOf({ dir }: DraftFlags): string {
  return dir === undefined ? '' : spaced(['--dir', dir]);
}

/** Returns the option `paths` of the calls of a draft. */
export function pathsOf({ path }: PathFlags): { paths?: string[] } {
  // An empty word, for example from an unset variable, would stand for the whole draft.
  if (path?.includes('')) throw new Failure('ERR_BASH_INVALID_ARG', '--path takes no empty path', EXIT.usage);
  return path ? { paths: path } : {};
}
