import type { NativeView } from '../../native.cjs';
import { jsonOf } from '../core/json.ts';
import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';
import type { Output } from './keeping.ts';
import { type Conversation, nativeReduction } from './options.ts';
import type { ReduceOptions, View } from './types.ts';

/** Returns the view of a draft. Its whole can be recalled with `id`, and is in the file. */
export function viewOf(
  { text, tokens, class: kind, elided, rules }: NativeView,
  id = 0,
  path: string | null = null,
): View {
  return { text, tokens, class: kind, elided, rules, id, path };
}

/** Returns the view of a draft that leaves out lines, with the line that names the place of the whole. */
export function closedView(draft: NativeView, id: number, path: string | null): View {
  const view = viewOf(draft, id, path);
  const gap = draft.elided.find(({ why }) => why !== 'seen');
  // Lines that the model reads elsewhere are not missing.
  if (!gap) return view;
  const { estimateTokens, lineBehindView } = loadNative();
  const [stdout, stderr] = draft.lines;
  const before = gap.stream === 'stderr' ? stdout : 0;
  const recalled = id === 0 ? null : id;
  const closing = lineBehindView(stdout + stderr, gap.fromLine + before, gap.toLine + before, recalled, path);
  const text = `${draft.text}${draft.text.endsWith('\n') ? '' : '\n'}${closing}`;
  return { ...view, text, tokens: { before: draft.tokens.before, after: estimateTokens(text) } };
}

/** Returns the draft of a whole output, with the text as it was if nothing is gained. */
export function draftOf(
  output: Output,
  reduce: 'lossless' | 'salient' | ReduceOptions,
  known: Conversation,
): NativeView {
  const { stdout, stderr, command, exitCode } = output;
  const end = exitCode === undefined ? 'unknown' : exitCode === 0 ? 'succeeded' : 'failed';
  const given = { stdout, stderr, end, ...(command !== undefined && { command }) } as const;
  const reduction = jsonOf(nativeReduction(reduce, known) ?? {});
  return named(() => loadNative().reduceText(given, reduction));
}

/** Returns whether a draft differs from the unchanged text. */
export function gains({ elided, rules }: NativeView): boolean {
  return elided.length > 0 || rules.length > 0;
}

/** Returns the view that only folds an output, or `null` if nothing is gained. */
export function foldedView(output: Output): View | null {
  const draft = draftOf(output, 'lossless', { off: [], earlier: [] });
  return gains(draft) ? viewOf(draft) : null;
}

/** Calls the addon, which refuses only arguments here. */
export function named<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new BashError('ERR_BASH_INVALID_ARG', (error as Error).message);
  }
}
