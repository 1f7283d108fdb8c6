const ESC = 0x1b;
/** Longer text was never meant as a sequence. */
const LONGEST = 1024;

/** A control sequence: where the text continues, and the effect if it has one here. */
export interface Sequence {
  end: number;
  /** The parameters of an SGR sequence: digits, `;` and `:` only. */
  sgr?: string;
  /** Erase in line: 0 to its end, 1 to its start, 2 all of it. */
  erase?: number;
}

/**
 * Parses the sequence whose introducer, ESC or its 8-bit form, is at `at`. It never extends past the line. Text after
 * an ESC that is not a sequence stays text.
 */
export function sequenceAt(line: string, at: number): Sequence {
  const code = line.charCodeAt(at);
  if (code !== ESC) return code === 0x9b ? csi(line, at + 1) : { end: stringEnd(line, at + 1) };
  const next = line.charCodeAt(at + 1);
  if (next === 0x5b) return csi(line, at + 2);
  // OSC, DCS, SOS, PM, APC
  if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(next)) return { end: stringEnd(line, at + 2) };
  let end = at + 1;
  while (isBetween(line.charCodeAt(end), 0x20, 0x2f)) end++;
  return { end: isBetween(line.charCodeAt(end), 0x30, 0x7e) ? end + 1 : end };
}

function csi(line: string, from: number): Sequence {
  let body = '';
  let at = from;
  for (; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (isBetween(code, 0x20, 0x3f)) {
      // One extra character marks it as too long.
      if (body.length <= LONGEST) body += line[at];
    } else if (isBetween(code, 0x40, 0x7e)) return { end: at + 1, ...asked(body, code) };
    // CAN and SUB cancel it. Another escape starts a new one. A character that cannot be part of a sequence is text.
    else if (code === 0x18 || code === 0x1a) return { end: at + 1 };
    else if (code === ESC || code >= 0x80) break;
    // Any other control executes within the sequence, which has no effect here.
  }
  return { end: at };
}

function asked(body: string, final: number): Omit<Sequence, 'end'> {
  if (body.length > LONGEST) return {};
  if (final === 0x6d && /^[\d;:]*$/.test(body)) return { sgr: body };
  if (final === 0x4b && /^[012]?$/.test(body)) return { erase: Number(body) };
  return {};
}

/** Returns the end of an OSC, DCS, SOS, PM or APC payload: at BEL, ST, CAN, SUB or the next escape. */
function stringEnd(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === ESC) return line[at + 1] === '\\' ? at + 2 : at;
    if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a) return at + 1;
  }
  return line.length;
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}
