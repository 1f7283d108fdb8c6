import type { Receipt } from '../../native.cjs';
import { basename, dirname, isAbsolute, join, realpathSync } from './builtins.ts';
import { messageOf } from './listener.ts';

/** A file that the model has read, and that a run has changed since. */
export interface StaleFile {
  /** The path, as `knownFiles` has it. */
  path: string;
  /** `'modified'`: it has other contents. `'deleted'`: it is gone. `'renamed'`: it has another path. */
  change: 'modified' | 'deleted' | 'renamed';
}

/** The files that a model has read. */
export type KnownFiles = Iterable<string> | (() => Iterable<string>);

/** Files in a list. */
const MOST = 100;
/** Known files that are looked at. */
const MOST_KNOWN = 100_000;

/**
 * Returns the known files that a run changed, in their own order, and a note if the known files cannot be read. A
 * receipt has real paths, so links are followed.
 */
export function staleOf(
  receipt: Receipt | null,
  known: KnownFiles | undefined,
): { stale: StaleFile[]; notes: string[] } {
  const stale: StaleFile[] = [];
  if (!receipt || known === undefined) return { stale, notes: [] };
  const changes = new Changes(receipt);
  if (changes.isEmpty) return { stale, notes: [] };
  const notes = unlistedNote(receipt);
  const seen = new Set<string>();
  let wrong: string | undefined;
  try {
    for (const path of typeof known === 'function' ? known() : known) {
      if (stale.length === MOST || seen.size === MOST_KNOWN) break;
      if (seen.has(path)) continue;
      seen.add(path);
      if (typeof path !== 'string' || !isAbsolute(path)) wrong ??= String(path);
      else {
        const change = changes.of(path);
        if (change) stale.push({ path, change });
      }
    }
  } catch (error) {
    notes.push(`knownFiles failed: ${messageOf(error)}`);
  }
  if (wrong !== undefined) notes.push(`knownFiles: ${wrong} is no absolute path`);
  return { stale, notes };
}

/** Says that a receipt lists only a part of its changes, so that known files among the others are not found. */
function unlistedNote({ counts, created, modified, deleted, renamed }: Receipt): string[] {
  const all = counts.created + counts.modified + counts.deleted + counts.renamed;
  const listed = created.length + modified.length + deleted.length + renamed.length;
  if (all <= listed) return [];
  return [`knownFiles: the receipt lists ${listed} of ${all} changes; other known files may have changed, too`];
}

/** What a receipt says of each path. */
class Changes {
  /** Paths below which everything is gone. */
  readonly #gone = new Map<string, StaleFile['change']>();
  readonly #changed = new Set<string>();
  /** The real path of each directory. */
  readonly #real = new Map<string, string>();

  constructor({ created, modified, deleted, renamed }: Receipt) {
    for (const { path } of deleted) this.#gone.set(path, 'deleted');
    for (const { from, to } of renamed) {
      this.#gone.set(from, 'renamed');
      this.#changed.add(to);
    }
    for (const { path } of [...created, ...modified]) this.#changed.add(path);
  }

  get isEmpty(): boolean {
    return this.#gone.size + this.#changed.size === 0;
  }

  /** Returns how a file changed. */
  of(path: string): StaleFile['change'] | undefined {
    const place = join(this.#realOf(dirname(path)), basename(path));
    return this.#at(place) ?? this.#at(realOrNull(place) ?? place);
  }

  #at(path: string): StaleFile['change'] | undefined {
    if (this.#changed.has(path)) return 'modified';
    for (let at = path; ; at = dirname(at)) {
      const change = this.#gone.get(at);
      if (change || at === dirname(at)) return change;
    }
  }

  /** Returns the real path of a directory, also of one that is gone. */
  #realOf(directory: string): string {
    const known = this.#real.get(directory);
    if (known !== undefined) return known;
    const real = realOrNull(directory) ?? join(this.#realOf(dirname(directory)), basename(directory));
    this.#real.set(directory, real);
    return real;
  }
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Tasks of a registry whose known files are kept. */
const MOST_TASKS = 1_000;

const ofTasks = new WeakMap<object, Map<string, KnownFiles>>();

/** Keeps the known files of a task for its checks. */
export function keepKnown(registry: object, { id }: { id: string }, known: KnownFiles | undefined): void {
  if (known === undefined) return;
  const kept = ofTasks.get(registry) ?? new Map<string, KnownFiles>();
  ofTasks.set(registry, kept.set(id, known));
  const [oldest] = kept.keys();
  if (kept.size > MOST_TASKS && oldest !== undefined) kept.delete(oldest);
}

/** Returns the known files of a task. */
export function knownOf(registry: object, { id }: { id: string }): KnownFiles | undefined {
  return ofTasks.get(registry)?.get(id);
}
