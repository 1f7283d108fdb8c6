/**
 * The options that an entry takes, by name. `fields` are the options of an option that is an object itself. Each bundle
 * has its own copy of these functions, but the tables of the main entry are reached through it (`Inner.options`).
 */
export interface OptionTable {
  readonly [name: string]: { readonly fields?: OptionTable | undefined };
}

/** The names of every member of a union of objects. */
type NamesOf<T> = T extends unknown ? keyof T : never;

/** A table that names each option of `T` and no other; the compiler holds it to the interface. */
export type OptionTableOf<T, Entry = OptionTable[string]> = { readonly [Name in NamesOf<T> & string]: Entry };

/** An option without options of its own. */
export const PLAIN = {} as const;

/**
 * Names an option that does not exist, with the nearest existing option. `null` if all exist. An option that is
 * `undefined` counts as left out, whatever its name.
 *
 * @param entry the function or class whose options these are, as its caller wrote it.
 */
export function unknownOption(entry: string, options: object, table: OptionTable, within = ''): string | null {
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const known = Object.hasOwn(table, name) ? table[name] : undefined;
    if (known === undefined) {
      return `${entry}: unknown option "${within}${name}"${hintOf(name, Object.keys(table), within)}`;
    }
    if (known.fields === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const inside = unknownOption(entry, value, known.fields, `${within}${name}.`);
    if (inside !== null) return inside;
  }
  return null;
}

/** Returns the end of a sentence about a name that does not exist: the nearest name, or else all names. */
export function hintOf(name: string, names: readonly string[], within = ''): string {
  const nearest = nearestTo(name, names);
  return nearest === null ? `; there are ${names.join(', ')}` : `: did you mean "${within}${nearest}"?`;
}

/** Returns the name that was most likely meant. `null` if none is near. */
export function nearestTo(name: string, names: readonly string[]): string | null {
  const scored = names
    .map((known) => ({ known, score: scoreOf(plain(name), plain(known)), extra: Math.abs(known.length - name.length) }))
    .filter(({ score }) => score <= Math.max(2, name.length / 3))
    .sort((one, other) => one.score - other.score || one.extra - other.extra);
  return scored[0]?.known ?? null;
}

/** Removes case and separators, which differ most between libraries. */
function plain(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/**
 * How far apart two names are: edits, but less if one begins with the other (`timeout`, `timeoutMs`) or contains it.
 */
function scoreOf(name: string, known: string): number {
  const [short, long] = name.length < known.length ? [name, known] : [known, name];
  if (name === known) return 0;
  if (short.length >= 3 && long.startsWith(short)) return 0.25;
  if (2 * short.length >= long.length && long.includes(short)) return 0.5;
  const shared = sharedStart(short, long);
  return shared >= 3 && shared >= 0.6 * short.length ? 1 : edits(name, known);
}

/** Returns how many characters two names share at their start: `truncation` and `truncate` are forms of one word. */
function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** Characters to insert, to remove, to replace, or to swap with their neighbour. */
function edits(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
