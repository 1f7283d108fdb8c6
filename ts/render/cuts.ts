import type { BashResult, Truncation } from 'agent-bash';
import { type Uncut, withoutNotice } from '../core/notice.ts';

/** The lines of a stream apart from its notice. */
export function shownOf(text: string, truncation: Truncation | null | undefined): Uncut {
  const uncut = withoutNotice(text, truncation);
  // A notice behind the text has a newline before it that is not the output's.
  return text.endsWith(uncut.text) ? uncut : { ...uncut, text: uncut.text.replace(/\n$/, '') };
}

/**
 * The parts of a notice. The core's words on the whole stream follow the figures of a stream that keeps one end. For a
 * stream that keeps both ends they are the whole last line.
 */
const NOTICE = /^\[(?<stream>\w+): (?:Showing [^.]*?(?:\. |(?=\]$)))?(?<whole>.*)\]$/ms;

/** Returns the notices' words on the whole streams, to be shown with text that replaces the streams. */
export function wholes(truncation: BashResult['truncation'], background: boolean): string[] {
  // A command that continues in the background has a log, and its status line names that.
  if (background) return [];
  return (['stdout', 'stderr'] as const).flatMap((name) => {
    const { stream, whole } = NOTICE.exec(truncation[name]?.notice ?? '')?.groups ?? {};
    return whole ? [`[${stream}: ${whole}]`] : [];
  });
}
