import type { Truncation } from '../../native.cjs';

/** The kept text of a stream, and its notice. */
export interface Uncut {
  /** The text, with the newline before the notice. */
  text: string;
  /** The lines of the notice: the cut, and the place of the whole stream. */
  notices: string[];
}

/** Takes the notice out of the text of a stream. */
export function withoutNotice(text: string, truncation: Truncation | null | undefined): Uncut {
  const notice = truncation?.notice;
  if (typeof notice !== 'string' || notice === '') return { text, notices: [] };
  const notices = notice.split('\n');
  if (text.endsWith(notice)) return { text: text.slice(0, text.length - notice.length), notices };
  // With both ends kept, the first line precedes the text and the others, if there is a file, follow it.
  const [first = '', ...rest] = notices;
  const last = rest.join('\n');
  if (!text.startsWith(`${first}\n`)) return { text, notices };
  const inner = text.slice(first.length + 1);
  return { text: inner.endsWith(last) ? inner.slice(0, inner.length - last.length) : inner, notices };
}
