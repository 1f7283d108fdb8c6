/** A piece of text that is shown as one, and how many columns of a terminal it takes. */
export interface Cell {
  shown: string;
  width: number;
  /** Where it begins and ends in the text, in UTF-16 units. */
  from: number;
  to: number;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** What turns the text around it, or cannot be seen. */
const HIDING = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** One line of text as a terminal shows it. A control character moves no cursor here, and one that hides is seen. */
export function cells(line: string): Cell[] {
  return [...graphemes.segment(line)].map(({ segment, index }) => {
    const at = { from: index, to: index + segment.length };
    if (segment === '\t') return { shown: ' ', width: 1, ...at };
    if (CONTROL.test(segment) || HIDING.test(segment)) return { shown: '\ufffd', width: 1, ...at };
    if (WITHOUT_WIDTH.test(segment)) return { shown: segment, width: 0, ...at };
    return { shown: segment, width: WIDE.test(segment) ? 2 : 1, ...at };
  });
}
