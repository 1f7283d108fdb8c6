import { BashError } from 'agent-bash';
import type { TerminalToolInput } from './types.ts';

const ESC = '\x1b';

/** A key, as xterm sends it. */
type Key =
  /** Text that every terminal sends, and another text with Shift. */
  | { plain: string; shift?: string }
  /** `CSI final`, in application cursor mode `SS3 final`; with modifiers `CSI 1;m final`. */
  | { cursor: string }
  /** `SS3 final`; with modifiers `CSI 1;m final`. */
  | { function: string }
  /** `CSI number ~`; with modifiers `CSI number;m ~`. */
  | { number: number };

/** Every named key, under the name given to the model. */
export const KEYS: Readonly<Record<string, Key>> = {
  Enter: { plain: '\r' },
  Tab: { plain: '\t', shift: `${ESC}[Z` },
  Space: { plain: ' ' },
  Backspace: { plain: '\x7f' },
  Escape: { plain: ESC },
  Up: { cursor: 'A' },
  Down: { cursor: 'B' },
  Right: { cursor: 'C' },
  Left: { cursor: 'D' },
  Home: { cursor: 'H' },
  End: { cursor: 'F' },
  Insert: { number: 2 },
  Delete: { number: 3 },
  PageUp: { number: 5 },
  PageDown: { number: 6 },
  F1: { function: 'P' },
  F2: { function: 'Q' },
  F3: { function: 'R' },
  F4: { function: 'S' },
  F5: { number: 15 },
  F6: { number: 17 },
  F7: { number: 18 },
  F8: { number: 19 },
  F9: { number: 20 },
  F10: { number: 21 },
  F11: { number: 23 },
  F12: { number: 24 },
};

/** Other names that models and people use, in lower case. */
const ALIASES: Readonly<Record<string, string>> = {
  return: 'Enter',
  esc: 'Escape',
  del: 'Delete',
  ins: 'Insert',
  pgup: 'PageUp',
  pgdn: 'PageDown',
  pgdown: 'PageDown',
  arrowup: 'Up',
  arrowdown: 'Down',
  arrowleft: 'Left',
  arrowright: 'Right',
  bs: 'Backspace',
  spacebar: 'Space',
};

const NAMES = new Map(Object.keys(KEYS).map((name) => [name.toLowerCase(), name]));

const MODIFIERS: Readonly<Record<string, keyof Modifiers>> = {
  ctrl: 'ctrl',
  control: 'ctrl',
  c: 'ctrl',
  alt: 'alt',
  meta: 'alt',
  option: 'alt',
  m: 'alt',
  shift: 'shift',
  s: 'shift',
};

interface Modifiers {
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
}

/** The control codes of characters that are not letters. */
const CONTROLS: Readonly<Record<string, string>> = {
  ' ': '\0',
  '@': '\0',
  '[': ESC,
  '\\': '\x1c',
  ']': '\x1d',
  '^': '\x1e',
  _: '\x1f',
  '-': '\x1f',
  '/': '\x1f',
  '?': '\x7f',
};

/**
 * Returns what a terminal sends for a key: `Enter`, `Ctrl-C`, `Shift-Tab`, `Alt-x`, `Ctrl-Shift-Left`, or a single
 * character. Case only matters for a single character, and `+` is equivalent to `-`. Throws `ERR_BASH_INVALID_ARG` for
 * an unknown key.
 */
export function sequenceOf(name: string, { applicationCursor }: { applicationCursor: boolean }): string {
  const { modifiers, key } = parts(name);
  const known = keyOf(key);
  const sequence = known ? named(known, modifiers, applicationCursor) : character(key, modifiers);
  if (sequence === undefined) throw unknown(name);
  return sequence;
}

/** Splits `Ctrl-Alt-x`. The last part is the key, even if it is `-` itself. */
function parts(name: string): { modifiers: Modifiers; key: string } {
  const modifiers: Modifiers = { ctrl: false, alt: false, shift: false };
  let key = /^\^.$/su.test(name) ? `Ctrl-${name.slice(1)}` : name;
  for (;;) {
    const [prefix, word = ''] = /^([a-z]+)[-+](?=.)/iu.exec(key) ?? [];
    const modifier = MODIFIERS[word.toLowerCase()];
    if (prefix === undefined || modifier === undefined) return { modifiers, key };
    modifiers[modifier] = true;
    key = key.slice(prefix.length);
  }
}

function keyOf(key: string): Key | undefined {
  const name = key.toLowerCase();
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : NAMES.get(name);
  return known === undefined ? undefined : KEYS[known];
}

function named(key: Key, modifiers: Modifiers, applicationCursor: boolean): string | undefined {
  if ('plain' in key) return plain(key, modifiers);
  const { ctrl, alt, shift } = modifiers;
  const number = 1 + (shift ? 1 : 0) + (alt ? 2 : 0) + (ctrl ? 4 : 0);
  if ('number' in key) return `${ESC}[${key.number}${number > 1 ? `;${number}` : ''}~`;
  const final = 'cursor' in key ? key.cursor : key.function;
  if (number > 1) return `${ESC}[1;${number}${final}`;
  return `${ESC}${'function' in key || applicationCursor ? 'O' : '['}${final}`;
}

function plain(key: { plain: string; shift?: string }, { ctrl, alt, shift }: Modifiers): string | undefined {
  let text: string | undefined = key.plain;
  if (ctrl) text = text === '\x7f' ? '\b' : shift ? undefined : CONTROLS[text];
  // A terminal sends the same for Space and Shift-Space, but Shift-Enter does not exist.
  else if (shift) text = key.shift ?? (text === ' ' ? text : undefined);
  return text !== undefined && alt ? `${ESC}${text}` : text;
}

function character(key: string, { ctrl, alt, shift }: Modifiers): string | undefined {
  if ([...key].length !== 1 || /\p{Cc}/u.test(key)) return undefined;
  let text: string | undefined = shift && !ctrl ? key.toUpperCase() : key;
  if (ctrl) text = /[a-z]/i.test(key) ? String.fromCharCode(key.charCodeAt(0) & 0x1f) : CONTROLS[key];
  return text !== undefined && alt ? `${ESC}${text}` : text;
}

function unknown(name: string): BashError {
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return new BashError(
    'ERR_BASH_INVALID_ARG',
    `keys: a terminal has no key ${JSON.stringify(shown)}; there are ${Object.keys(KEYS).join(', ')}, single characters, and ` +
      'these with Ctrl-, Alt- and Shift- (Ctrl-C, Alt-x, Shift-Tab, Ctrl-Left); text is given as text',
  );
}

/**
 * Keyboard modes of a program: application cursor mode (DECCKM), which changes what the arrow keys send, and bracketed
 * paste (mode 2004).
 */
export interface Modes {
  applicationCursor: boolean;
  bracketedPaste: boolean;
}

/**
 * Returns what the terminal receives for `text`, `paste` and `keys`, in this order. Throws `ERR_BASH_INVALID_ARG` for
 * an unknown key.
 */
export function keystrokes({ text, paste, keys }: TerminalToolInput, modes: Modes): string {
  const pressed = keyNames(keys).map((name) => sequenceOf(name, modes));
  return withEnter(text ?? '') + pasted(paste ?? '', modes) + pressed.join('');
}

/** A string counts as names separated by blanks: models that ignore the schema send that. */
function keyNames(keys: TerminalToolInput['keys']): string[] {
  if (typeof keys === 'string') return keys === ' ' ? [keys] : keys.split(/\s+/).filter((name) => name !== '');
  return [...(keys ?? [])];
}

/** The key at the end of a line is Enter, which sends a carriage return. */
function withEnter(text: string): string {
  return text.replace(/\r\n|\n/g, '\r');
}

/**
 * Pastes as a terminal does: bracketed if the program asked for it, without sequences that would close the bracket
 * early.
 */
function pasted(paste: string, { bracketedPaste }: Modes): string {
  if (paste === '' || !bracketedPaste) return withEnter(paste);
  return `\x1b[200~${withEnter(paste).replaceAll('\x1b', '')}\x1b[201~`;
}
