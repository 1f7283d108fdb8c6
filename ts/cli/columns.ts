/** A piece of text that is shown as one unit, and its columns in a terminal. */
export interface Cell {
  shown: string;
  width: number;
  /** The range of the piece in the text, in UTF-16 units. */
  from: number;
  to: number;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** Characters that are invisible or change the direction of the text around them. */
const HIDING = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Splits one line of text into cells as a terminal shows them. Control characters do not move the cursor, and invisible
 * characters are made visible.
 */
export function cells(line: string): Cell[] {
  return [...graphemes.segment(line)].map(({ segment, index }) => {
    const at = { from: index, to: index + segment.length };
    if (segment === '\t') return { shown: ' ', width: 1, ...at };
    if (CONTROL.test(segment) || HIDING.test(segment)) return { shown: '\ufffd', width: 1, ...at };
    if (WITHOUT_WIDTH.test(segment)) return { shown: segment, width: 0, ...at };
    return { shown: segment, width: WIDE.test(segment) ? 2 : 1, ...at };
  });
}
