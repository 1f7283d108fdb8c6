const ESC = 0x1b;
/** What is longer was never meant as a sequence. */
const LONGEST = 1024;

/** A control sequence: where the text goes on after it, and what it asks for where that is looked at. */
export interface Sequence {
  end: number;
  /** The parameters of an SGR sequence: digits, `;` and `:` alone. */
  sgr?: string;
  /** Erase in line: 0 to its end, 1 to its beginning, 2 all of it. */
  erase?: number;
}

/** The sequence whose introducer, ESC or an 8-bit one, is at `at`. It never reaches past the line; what is no sequence after an ESC stays text. */
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
      // One character too many says that it is too long.
      if (body.length <= LONGEST) body += line[at];
    } else if (isBetween(code, 0x40, 0x7e)) return { end: at + 1, ...asked(body, code) };
    // CAN and SUB end it, with nothing done; another escape begins anew, and what cannot be in one is text.
    else if (code === 0x18 || code === 0x1a) return { end: at + 1 };
    else if (code === ESC || code >= 0x80) break;
    // Any other control is carried out in the midst of it: here that is nothing.
  }
  return { end: at };
}

function asked(body: string, final: number): Omit<Sequence, 'end'> {
  if (body.length > LONGEST) return {};
  if (final === 0x6d && /^[\d;:]*$/.test(body)) return { sgr: body };
  if (final === 0x4b && /^[012]?$/.test(body)) return { erase: Number(body) };
  return {};
}

/** After the payload of OSC, DCS, SOS, PM or APC, which ends at BEL, ST, CAN, SUB or the next escape. */
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
