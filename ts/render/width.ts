// Bundled, so that the entry imports nothing at run time.
import { eastAsianWidth } from 'get-east-asian-width';

/** A character with its combining marks, and its cells. */
export interface Cluster {
  text: string;
  /** 0 only for marks without a base character in this text. */
  width: number;
}

const ASCII = /^[\x20-\x7e]*$/;
// Combining marks, joiners and other formats, and the vowels and finals of Korean, which merge with the previous
// syllable.
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
// Turns the previous character into an emoji.
const PICTURE = 0xfe0f;

/** Returns whether every character takes one cell and one UTF-16 unit. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Returns the cells of a text without controls. */
export function widthOf(text: string): number {
  if (isAscii(text)) return text.length;
  let width = 0;
  for (const cluster of clusters(text)) width += cluster.width;
  return width;
}

/** Yields a text without controls, character by character. */
export function* clusters(text: string): Generator<Cluster> {
  let start = 0;
  let width = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) as number;
    const length = code > 0xffff ? 2 : 1;
    const marks = code > 0x7e && NO_CELL.test(text.slice(at, at + length));
    if (!marks && at > start) {
      yield { text: text.slice(start, at), width };
      start = at;
      width = 0;
    }
    if (!marks) width = eastAsianWidth(code);
    else if (code === PICTURE) width = 2;
    at += length;
  }
  if (at > start) yield { text: text.slice(start, at), width };
}
