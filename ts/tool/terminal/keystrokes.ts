import { sequenceOf } from './keys.ts';
import type { TerminalToolInput } from './types.ts';

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
