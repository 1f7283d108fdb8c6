import { sequenceOf } from './keys.ts';
import type { TerminalToolInput } from './types.ts';

/**
 * What a program has asked of the keyboard: application cursor mode (DECCKM), which changes what the arrows send, and bracketed paste
 * (mode 2004).
 */
export interface Modes {
  applicationCursor: boolean;
  bracketedPaste: boolean;
}

/** What the terminal gets for `text`, `paste` and `keys`, in this order. Throws `ERR_BASH_INVALID_ARG` for a key that there is not. */
export function typed({ text, paste, keys }: TerminalToolInput, modes: Modes): string {
  const pressed = keyNames(keys).map((name) => sequenceOf(name, modes));
  return withEnter(text ?? '') + pasted(paste ?? '', modes) + pressed.join('');
}

/** A string is taken as names with blanks between them: models that do not keep to the schema write that. */
function keyNames(keys: TerminalToolInput['keys']): string[] {
  if (typeof keys === 'string') return keys === ' ' ? [keys] : keys.split(/\s+/).filter((name) => name !== '');
  return [...(keys ?? [])];
}

/** The key at the end of a line is Enter, which sends a carriage return. */
function withEnter(text: string): string {
  return text.replace(/\r\n|\n/g, '\r');
}

/** As a terminal pastes: marked as such where the program has asked for it, and then without what would end the mark early. */
function pasted(paste: string, { bracketedPaste }: Modes): string {
  if (paste === '' || !bracketedPaste) return withEnter(paste);
  return `\x1b[200~${withEnter(paste).replaceAll('\x1b', '')}\x1b[201~`;
}
