import { shellWords, type Token } from './shell-words.ts';

/** A `| head …` or `| tail …` at the end of a command, and the command without it. */
export interface TrailingLimit {
  command: string;
  keep: 'head' | 'tail';
  lines: number;
}

/** What `head` and `tail` show when nothing is said. */
const DEFAULT_LINES = 10;
/** Most commands end otherwise, and need no closer look. */
const ENDS_IN_LIMIT = /\b(head|tail)[-=\w \t]{0,40}\s*$/;

/**
 * Recognizes a trailing `| head` or `| tail` that can be taken off without changing what the command does: the whole
 * command is one pipeline, with at most a `cd X &&` before it. `null` leaves the command as it is.
 *
 * What is in front of the pipe stays byte for byte, `2>&1` included, so the same bytes are counted as before.
 */
export function trailingLimit(command: string): TrailingLimit | null {
  const tokens = ENDS_IN_LIMIT.test(command) ? shellWords(command) : null;
  if (tokens === null) return null;
  const pipeline = withoutLeadingCd(withoutPlainNewlines(tokens));
  const pipe = pipeline.findLastIndex(isPipe);
  const before = pipeline[pipe - 1];
  if (before === undefined || !isPipeline(pipeline.slice(0, pipe))) return null;
  const limit = limitOf(pipeline.slice(pipe + 1));
  if (limit === null) return null;
  const kept = command.slice(0, before.end);
  return { ...limit, command: pipeline[pipe]?.text === '|&' ? `${kept} 2>&1` : kept };
}

function isPipe(token: Token): boolean {
  return token.kind === 'operator' && (token.text === '|' || token.text === '|&');
}

/** Newlines around the command and after a pipe or `&&` separate nothing. */
function withoutPlainNewlines(tokens: Token[]): Token[] {
  const last = tokens.findLastIndex((token) => token.text !== '\n');
  const kept: Token[] = [];
  for (const token of tokens.slice(0, last + 1)) {
    const previous = kept.at(-1);
    const separates = previous !== undefined && !isPipe(previous) && previous.text !== '&&';
    if (token.text !== '\n' || separates) kept.push(token);
  }
  return kept;
}

function withoutLeadingCd(tokens: Token[]): Token[] {
  const [cd, folder, and] = tokens;
  const isCd = cd?.kind === 'word' && cd.text === 'cd' && folder?.kind === 'word' && and?.text === '&&';
  // `cd -` prints the folder, and that line never went through the pipe.
  return isCd && !folder.text.startsWith('-') ? tokens.slice(3) : tokens;
}

/** Stages with something in each, joined by pipes and nothing else. */
function isPipeline(tokens: Token[]): boolean {
  let empty = true;
  for (const token of tokens) {
    if (isPipe(token)) {
      if (empty) return false;
      empty = true;
    } else if (token.kind === 'operator' && !/[<>]/.test(token.text)) {
      return false;
    } else {
      // `time` alone is no stage.
      empty = empty && token.text === 'time';
    }
  }
  return !empty;
}

/** The limit that the last stage sets, when it is nothing but that. */
function limitOf(stage: Token[]): { keep: 'head' | 'tail'; lines: number } | null {
  if (stage.some((token) => token.kind !== 'word')) return null;
  const words = stage.map((token) => token.text).join(' ');
  const match = /^(head|tail)(?: (?:-n ?|--lines[= ]|-)([1-9]\d{0,8}))?$/.exec(words);
  if (match === null) return null;
  return { keep: match[1] as 'head' | 'tail', lines: match[2] === undefined ? DEFAULT_LINES : Number(match[2]) };
}
