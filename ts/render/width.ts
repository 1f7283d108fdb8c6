import { isWide } from './wide.ts';

/** A character with all that stands on it, and the cells that it takes. */
export interface Cluster {
  text: string;
  /** 0 only of marks that stand on nothing in this text. */
  width: number;
}

const ASCII = /^[\x20-\x7e]*$/;
// Marks, joiners and other formats, and the vowels and finals of Korean, which are drawn into the syllable before.
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
// It makes a picture of the character before.
const PICTURE = 0xfe0f;

/** Whether each character is one cell and one unit. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Cells that a text without controls takes. */
export function widthOf(text: string): number {
  if (isAscii(text)) return text.length;
  let width = 0;
  for (const cluster of clusters(text)) width += cluster.width;
  return width;
}

/** A text without controls, character by character. */
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
    if (!marks) width = isWide(code) ? 2 : 1;
    else if (code === PICTURE) width = 2;
    at += length;
  }
  if (at > start) yield { text: text.slice(start, at), width };
}
