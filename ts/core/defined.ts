/** An object without the values that are `undefined`. */
export type Defined<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/**
 * The entries that have a value: in options, `undefined` counts as left out, but the addon takes every key that it
 * finds.
 */
export function definedOnly<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}
