import { createContext, Script } from 'node:vm';
import { BashError } from 'agent-bash';

/** Time one search for a pattern may take, in ms. A model's pattern must not block the host. */
const LONGEST_MS = 100;

/** Returns whether the awaited text is on the screen. Throws `ERR_BASH_INVALID_ARG` if the search takes too long. */
export type ScreenSearch = (screen: string) => boolean;

/**
 * Returns a search for the text or pattern of an input, or `null` if the input names neither. Throws
 * `ERR_BASH_INVALID_ARG` for an invalid pattern.
 */
export function appears(text: string | null | undefined, pattern: string | null | undefined): ScreenSearch | null {
  if (text != null) return (screen) => screen.includes(text);
  if (pattern == null) return null;
  let regexp: RegExp;
  try {
    regexp = new RegExp(pattern, 'u');
  } catch {
    // Without `u` more patterns are valid: an escaped `-`, a lone brace.
    try {
      regexp = new RegExp(pattern);
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', `pattern: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  // Only a separate script can be interrupted during a match.
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
