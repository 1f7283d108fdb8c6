import type { HighlightToken } from 'agent-bash';

/** A colour: 0 … 255 of the palette, or `RGB` plus 24 bits. */
export type Colour = number;

/** Marks a 24-bit colour. */
export const RGB = 0x1000000;

/** The style of text. Nothing else of an escape sequence is kept. */
export interface Style {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly strike: boolean;
  /** `null`: the default. */
  readonly foreground: Colour | null;
  readonly background: Colour | null;
  /** The class of a part of a command, which a page can style. */
  readonly token?: HighlightToken['class'];
}

export const PLAIN: Style = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
  foreground: null,
  background: null,
};

/** Text of one style. */
export interface Run {
  text: string;
  style: Style;
  /** Written by this package, not by the command: the text marks an omission. */
  ours?: true;
}

type Change = Partial<Style>;

// Blinking and concealed text (8) are left out.
const CHANGES: Record<number, Change> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { foreground: null },
  49: { background: null },
};
for (let colour = 0; colour < 8; colour++) {
  CHANGES[30 + colour] = { foreground: colour };
  CHANGES[40 + colour] = { background: colour };
  CHANGES[90 + colour] = { foreground: colour + 8 };
  CHANGES[100 + colour] = { background: colour + 8 };
}

/**
 * Returns the style after an SGR sequence with these parameters: digits, `;` and `:`. Unknown parameters change
 * nothing.
 */
export function styled(style: Style, parameters: string): Style {
  const parts = parameters.split(';');
  let now = style;
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? '';
    const code = Number.parseInt(part || '0', 10);
    if (part.includes(':')) {
      now = { ...now, ...ofSubparameters(code, part.split(':')) };
    } else if (code === 38 || code === 48 || code === 58) {
      const taken = parts[at + 1] === '2' ? 4 : 2;
      now = { ...now, ...coloured(code, parts.slice(at + 1, at + 1 + taken)) };
      at += taken;
    } else {
      now = { ...now, ...CHANGES[code] };
    }
  }
  return now;
}

/** `4:3` is a wavy line. `38:2:1:2:3` and `38:2::1:2:3` are the same colour. */
function ofSubparameters(code: number, parts: string[]): Change {
  if (code === 4) return { underline: parts[1] !== '0' };
  const [, kind = '', ...rest] = parts;
  return coloured(code, kind === '2' ? [kind, ...rest.slice(rest.length > 3 ? 1 : 0)] : [kind, ...rest]);
}

/** Parses `5;INDEX` or `2;R;G;B`. The colour of underlines (58) is parsed and dropped. */
function coloured(code: number, [kind, ...numbers]: string[]): Change {
  const values = numbers.map((number) => Number.parseInt(number || '0', 10));
  const [red = -1, green = -1, blue = -1] = values;
  if (!values.every((value) => value >= 0 && value <= 255)) return {};
  let colour: Colour;
  if (kind === '5' && red >= 0) colour = red;
  else if (kind === '2' && blue >= 0) colour = RGB | (red << 16) | (green << 8) | blue;
  else return {};
  if (code === 38) return { foreground: colour };
  return code === 48 ? { background: colour } : {};
}
