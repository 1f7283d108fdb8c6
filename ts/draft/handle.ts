import { resolve } from '../core/builtins.ts';
import { type Check, invalid } from '../core/checks.ts';
import { BashError } from '../errors.ts';
import type { Credentials } from './types.ts';

/** The parts of a draft that its users do not reach. */
export interface DraftParts {
  readonly id: string;
  /** The directory of all drafts. */
  readonly dir: string;
  readonly root: string;
  readonly credentials: Credentials;
  /** Why it cannot be used any more. `null`: it can. */
  over: 'closed' | 'committed' | 'discarded' | null;
  /** Aborts the commands that run in it. */
  readonly ending: AbortController;
  /** Settles when its world is there for the first command. `null`: it is only looked at. */
  begun: Promise<unknown> | null;
  /** What runs in it: each ends after an abort. */
  readonly running: Set<Promise<unknown>>;
  /** Ends the tasks that were started in it. */
  readonly tasks: Set<() => Promise<unknown>>;
}

const drafts = new WeakMap<object, DraftParts>();

export function keepDraft(draft: object, parts: DraftParts): void {
  drafts.set(draft, parts);
}

/** Returns the inner parts of a draft; `undefined` for any other value. */
export function draftOf(draft: unknown): DraftParts | undefined {
  return typeof draft === 'object' && draft !== null ? drafts.get(draft) : undefined;
}

/** Throws if a draft cannot be used any more. */
export function checkOpen({ id, over }: DraftParts): void {
  if (over === null) return;
  const message =
    over === 'closed' ? `the draft ${id} was closed; openDraft({ id }) opens it again` : `the draft ${id} was ${over}`;
  throw Object.assign(new BashError('ERR_BASH_DRAFT', message), { reason: 'unknown' });
}

/** The check of `draft`. */
export const DRAFT: Check = (value, name) => {
  const parts = draftOf(value);
  if (!parts) throw invalid(name, value, 'a draft of `openDraft`');
  checkOpen(parts);
};

/** Returns the draft of a command for the addon. */
export function nativeDraft(draft: unknown): { id: string; dir: string } | undefined {
  const parts = draftOf(draft);
  return parts && { id: parts.id, dir: parts.dir };
}

/** Returns the directory in which commands of a draft start: that of this process if it is below the root. */
export function directoryIn({ root }: DraftParts): string {
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch {
    return root;
  }
  return isBelow(cwd, root) ? cwd : root;
}

/** Returns whether a path is a directory or lies below it. */
export const isBelow = (path: string, directory: string) =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);

/** Returns absolute paths; relative ones begin in the root of the draft. */
export const pathsIn = ({ root }: DraftParts, paths: readonly string[] = []) =>
  paths.map((path) => resolve(root, path));

/** Returns options with which a command ends when its draft is closed. */
export function endingWithDraft<T extends { draft?: unknown; signal?: AbortSignal | undefined }>(options: T): T {
  const parts = draftOf(options.draft);
  if (!parts) return options;
  const { signal } = parts.ending;
  return { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal };
}

/** Lets the close of a draft wait for a command in it. */
export function runningIn<T>(draft: unknown, run: Promise<T>): Promise<T> {
  const running = draftOf(draft)?.running;
  if (running) {
    running.add(run);
    const remove = () => void running.delete(run);
    run.then(remove, remove);
  }
  return run;
}
