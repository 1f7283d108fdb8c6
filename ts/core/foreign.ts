import { visible } from './visible.ts';

/**
 * Signs that cannot end or begin a part of a sentence, and brackets around a single word: `app/[id]/page.tsx`. Blanks
 * are not among them: a name of several words would read as part of the sentence.
 */
const PLAIN = /^(?:[\p{L}\p{M}\p{N}._\-/~+@:=%#$!&*?^]|\[[\p{L}\p{M}\p{N}._-]+\])+$/u;

/** Brackets that are not around a single word. */
const LOOSE = /\[(?![\p{L}\p{M}\p{N}._-]+\])|(?<!\[[\p{L}\p{M}\p{N}._-]*)\]/gu;

/**
 * Returns a name that a program or a repository chose, as sentences for models and people show it: as it is, or
 * between quotes if it could be read as a part of the sentence. Nothing in it ends the line or the brackets around it.
 *
 * @param most the length from which on the middle is left out, in UTF-16 units.
 */
export function foreignName(name: string, most: number): string {
  const half = Math.max(1, Math.floor(most / 2) - 1);
  const cut = name.length <= most ? name : `${name.slice(0, half)}…${name.slice(-half)}`;
  const isPlain = PLAIN.test(cut.replace('…', ''));
  return isPlain ? visible(cut) : foreignWords(JSON.stringify(cut));
}

/** Returns a sentence in which such names may stand, on one line: brackets in it neither end nor begin a notice. */
export function foreignWords(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim();
  return line.replace(LOOSE, (bracket) => (bracket === '[' ? '\\u005b' : '\\u005d'));
}
