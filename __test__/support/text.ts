/** The numbers from `first` to `last`, a line each, as `seq` prints them. */
export function seq(first: number, last: number): string {
  let text = '';
  for (let n = first; n <= last; n++) text += `${n}\n`;
  return text;
}

/** The text without the line ends at its end. */
export function chomp(text: string): string {
  return text.replace(/\n+$/, '');
}

/** Whether the text has a lone surrogate. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** The variables that `env -0` printed. */
export function variables(text: string): Record<string, string> {
  const pairs = text.split('\0').filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** A word of shell that stands for exactly this text. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a text without the ports in a line of changes. A receipt lists those of the whole machine, where other tests
 * begin and end servers.
 */
export function withoutPorts(text: string): string {
  return text.replace(/; (?:ports? \d+(?:, \d+)*|\d+ ports) (?:open|closed)/g, '');
}

/**
 * Seconds between two pieces. Bash before 5.2 waits without end if the time is over before it begins to read, as it can
 * be on an emulated machine.
 */
const PAUSE = process.env.AGENT_BASH_EMULATED === '1' ? '.05' : '.002';

/**
 * A command that writes the pieces one after another, each with a separate write and a pause, without starting a
 * process for each. It needs a writable directory.
 */
export function drip(pieces: Iterable<Uint8Array>): string {
  let command = 'mkfifo .drip && exec 9<>.drip && rm .drip\n';
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    const escapes = Array.from(piece, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
    command += `printf '${escapes}'; read -rt ${PAUSE} -u 9\n`;
  }
  return `${command}exit 0`;
}

/** Cuts bytes at the given places. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** Each byte a piece of its own. */
export function everyByte(text: string): Uint8Array[] {
  return Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
}
