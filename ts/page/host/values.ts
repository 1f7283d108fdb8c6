// Functions that read the values of a message. A value of a wrong type becomes an empty value.

/** An object of a message whose fields are not checked yet. */
export type Fields = Record<string, unknown>;

/** Most characters of a text. */
const TEXT = 10_000;
/** Most characters of a name. */
export const NAME = 100;
/** The latest time that a `Date` can represent. */
export const LAST_MS = 8.64e15;
/** Most items of a list. */
export const LIST = 1_000;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function text(value: unknown, most = TEXT): string {
  return typeof value === 'string' ? value.slice(0, most) : '';
}

/** Returns the value as a whole number from 0 to `most`. */
export function number(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
  return numberOrNull(value, most) ?? 0;
}

export function numberOrNull(value: unknown, most = Number.MAX_SAFE_INTEGER): number | null {
  return Number.isFinite(value) ? Math.trunc(Math.min(most, Math.max(0, value as number))) : null;
}

/** Returns a number from 0 on, which may have decimals. */
export function decimalOrNull(value: unknown): number | null {
  return Number.isFinite(value) ? Math.max(0, value as number) : null;
}

export function textOrNull(value: unknown, most = TEXT): string | null {
  return typeof value === 'string' ? value.slice(0, most) : null;
}

export function list<T>(value: unknown, read: (item: Fields) => T, most = LIST): T[] {
  return Array.isArray(value) ? value.slice(0, most).map((item) => read(fields(item))) : [];
}

export function texts(value: unknown, most: number): string[] {
  return Array.isArray(value) ? value.slice(0, most).map((item) => text(item)) : [];
}

export function oneOf<const T extends string>(value: unknown, words: readonly T[], otherwise: NoInfer<T>): T {
  return words.includes(value as T) ? (value as T) : otherwise;
}
