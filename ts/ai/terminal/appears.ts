import { createContext, Script } from 'node:vm';
import { BashError } from 'agent-bash';

/** The longest that one look for a pattern may take, in ms: a model's pattern must not hold the host. */
const LONGEST_MS = 100;

/** Whether what is waited for is in a text. Throws `ERR_BASH_INVALID_ARG` where that takes too long. */
export type Appears = (screen: string) => boolean;

/** Looks for the text, or the pattern, that an input names; `null` where it names none. Throws `ERR_BASH_INVALID_ARG` for a pattern that is none. */
export function appears(text: string | null | undefined, pattern: string | null | undefined): Appears | null {
  if (text != null) return (screen) => screen.includes(text);
  if (pattern == null) return null;
  let regexp: RegExp;
  try {
    regexp = new RegExp(pattern, 'u');
  } catch {
    // Without `u` more is allowed: an escaped `-`, a lone brace.
    try {
      regexp = new RegExp(pattern);
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', `pattern: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  // Only a script of its own can be stopped in the middle of a match.
  const context = createContext({ regexp, screen: '' });
  const script = new Script('regexp.test(screen)');
  return (screen) => {
    context.screen = screen;
    try {
      return script.runInContext(context, { timeout: LONGEST_MS }) as boolean;
    } catch {
      throw new BashError(
        'ERR_BASH_INVALID_ARG',
        'pattern: it takes too long on this screen; a simpler one, or text, does not',
      );
    }
  };
}
