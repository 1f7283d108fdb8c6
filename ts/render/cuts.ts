import type { BashResult, Truncation } from 'agent-bash';

/** A stream without the words that were added where it was cut, and these words. */
export interface Uncut {
  text: string;
  /** What was cut and where the whole is, line by line. */
  notices: string[];
}

/** The text of a stream apart from its notice. */
export function withoutNotice(text: string, truncation: Truncation | null | undefined): Uncut {
  const notice = truncation?.notice;
  if (typeof notice !== 'string' || notice === '') return { text, notices: [] };
  const notices = notice.split('\n');
  if (text.endsWith(notice)) return { text: before(text, notice), notices };
  // Both ends were kept: one line stands before them, and another behind them where there is a file.
  const [first = '', ...rest] = notices;
  const last = rest.join('\n');
  if (!text.startsWith(`${first}\n`)) return { text, notices };
  const inner = text.slice(first.length + 1);
  return { text: last !== '' && inner.endsWith(last) ? before(inner, last) : inner, notices };
}

function before(text: string, notice: string): string {
  const end = text.length - notice.length;
  return text.slice(0, text[end - 1] === '\n' ? end - 1 : end);
}

/** Where the whole streams are, for those who show other text in their place. */
export function wholes(truncation: BashResult['truncation'], background: boolean): string[] {
  // One that went on in the background has a log, which is told of it.
  if (background) return [];
  return (['stdout', 'stderr'] as const).flatMap((name) => {
    const { artifactId, path } = truncation[name] ?? {};
    const place = artifactId ? `artifact://${artifactId}` : path;
    return place ? [`[${name}: Full output: ${place}]`] : [];
  });
}
