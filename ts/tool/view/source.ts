import { type BashResult, estimateTokens, type View } from 'agent-bash';
import { linesOf } from '../../core/lines.ts';
import { visible } from '../../core/visible.ts';
import type { Earlier } from '../../reduce/keeping.ts';

/** Characters of a command in the line that says whose output a number names. */
const COMMAND_LENGTH = 60;
/** The line in place of lines that an earlier result shows. */
const REFERENCE = /^\[\d+ lines as in #(\d+) L\d+-\d+\]$/gm;

/** An earlier result, with its command. */
export interface Source extends Earlier {
  command: string;
  /** Whether its text shows its number. */
  isNumbered: boolean;
}

type Output = Pick<BashResult, 'stdout' | 'stderr' | 'view'>;

/** Returns both streams as a recall counts their lines. */
export function wholeText({ stdout, stderr }: Pick<Output, 'stdout' | 'stderr'>): string {
  if (stderr === '') return stdout;
  return `${stdout}${stdout === '' || stdout.endsWith('\n') ? '' : '\n'}${stderr}`;
}

/** Returns the first and the last line of each part that a view leaves out. A fold leaves out nothing. */
export function hiddenLines({ stdout, view }: Output): [from: number, to: number][] {
  const before = linesOf(stdout).length;
  return (view?.elided ?? []).map(({ stream, fromLine, toLine }) => {
    const start = stream === 'stderr' ? before : 0;
    return [start + fromLine, start + toLine];
  });
}

/** Returns the earlier results that a view refers to. */
export function referredIn({ text, elided }: View, sources: readonly Source[]): Source[] {
  if (!elided.some(({ why }) => why === 'seen')) return [];
  const ids = new Set([...text.matchAll(REFERENCE)].map(([, id]) => Number(id)));
  return sources.filter(({ id }) => ids.has(id));
}

/** The place of an earlier result. */
export interface Found {
  source: Source;
  /** Its file, if the model can read it; `null`: the model recalls it, or reads it above. */
  path: string | null;
}

/** Returns the view with a line for each result that it refers to, and that does not show its number itself. */
export function withSources(view: View, found: readonly Found[]): View {
  const unnumbered = found.filter(({ source }) => !source.isNumbered);
  if (unnumbered.length === 0) return view;
  const lines = unnumbered.map(({ source: { id, command }, path }) => {
    return `[#${id}: the output of «${shortened(command)}» above${path === null ? '' : `, whole in ${path}`}]`;
  });
  const text = `${view.text}${view.text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`;
  return { ...view, text, tokens: { ...view.tokens, after: estimateTokens(text) } };
}

function shortened(command: string): string {
  const line = visible(command).replace(/\s+/g, ' ').trim();
  return line.length <= COMMAND_LENGTH ? line : `${line.slice(0, COMMAND_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
