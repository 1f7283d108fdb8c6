import { sequenceAt } from './sequence.ts';
import { type Style, styled } from './style.ts';

/** Receives the parts of a line in order. */
export interface Sink {
  text(text: string, style: Style): void;
  tab(style: Style): void;
  /** Moves to the start of the line. */
  carriageReturn(): void;
  backspace(): void;
  erase(how: number): void;
}

/**
 * Everything except plain text: controls of 7 and 8 bits, characters that change direction or are not assigned, foreign
 * line terminators, tags (which are invisible) and lone surrogates.
 */
const SPECIAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

/** Parses one line without a newline into the sink. Returns the style at the start of the next line. */
export function scan(line: string, begin: Style, sink: Sink): Style {
  let style = begin;
  let at = 0;
  while (at < line.length) {
    SPECIAL.lastIndex = at;
    const stop = SPECIAL.exec(line)?.index ?? line.length;
    if (stop > at) sink.text(line.slice(at, stop), style);
    if (stop === line.length) break;
    const code = line.codePointAt(stop) as number;
    at = stop + (code > 0xffff ? 2 : 1);
    if (code === 0x09) sink.tab(style);
    else if (code === 0x0d) sink.carriageReturn();
    else if (code === 0x08) sink.backspace();
    else if (isIntroducer(code)) {
      const { end, sgr, erase } = sequenceAt(line, stop);
      at = end;
      if (sgr !== undefined) style = styled(style, sgr);
      if (erase !== undefined) sink.erase(erase);
    } else if (code > 0x9f) sink.text(shown(code), style);
  }
  return style;
}

/** ESC, DCS, SOS, CSI, OSC, PM, APC */
function isIntroducer(code: number): boolean {
  return [0x1b, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f].includes(code);
}

/** Returns the visible form of a character that is not text or would be misread. */
function shown(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  const hex = code.toString(16).padStart(4, '0');
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex}`;
}
