import { bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { OutlineCommand, OutlinePipeline } from '../../core/outline.ts';

/** A `| head …` or `| tail …` behind a command, and the command without it. */
export interface TrailingLimit {
  command: string;
  keep: 'head' | 'tail';
  lines: number;
}

/** Lines that `head` and `tail` print by default. */
const DEFAULT_LINES = 10;
/** Most commands end otherwise and need no parsing. */
const ENDS_IN_LIMIT = /\b(head|tail)[-=\w \t]{0,40}\s*$/;
/** The stages that may precede the limit. A `case`, a function, a test or a coprocess is left alone. */
const STAGES: readonly OutlineCommand['kind'][] = ['simple', 'group', 'subshell', 'if', 'loop', 'for'];

/**
 * Finds a trailing `| head` or `| tail` that can be removed without changing what the command does: the whole command
 * is one pipeline, with at most a `cd X &&` before it. `null` leaves the command unchanged.
 *
 * The text before the pipe stays byte for byte, `2>&1` included, so the same bytes are counted.
 */
export function trailingLimit(command: string): TrailingLimit | null {
  if (!ENDS_IN_LIMIT.test(command)) return null;
  const { complete, heredocs, pipelines } = innerOf(bash).outlineOf(command);
  // The body of a heredoc lies behind the pipe.
  if (!complete || heredocs || isCommented(command, pipelines)) return null;
  const stages = onlyPipeline(pipelines);
  const before = stages?.at(-2);
  const last = stages?.at(-1);
  if (stages === null || before === undefined || last === undefined || !stages.every(isStage)) return null;
  const limit = limitOf(command, last);
  if (limit === null) return null;
  const kept = command.slice(0, before.span[1]);
  return { ...limit, command: before.pipesStderr ? `${kept} 2>&1` : kept };
}

/** Whether a comment lies between the commands. No other text there holds a `#`. */
function isCommented(command: string, pipelines: OutlinePipeline[]): boolean {
  let at = 0;
  for (const { span } of pipelines.flatMap(({ commands }) => commands)) {
    if (command.slice(at, span[0]).includes('#')) return true;
    at = span[1];
  }
  return command.slice(at).includes('#');
}

/** Returns the commands of the only pipeline, or of the one after `cd X &&`. */
function onlyPipeline(pipelines: OutlinePipeline[]): OutlineCommand[] | null {
  if (pipelines.some(({ negated, background }) => negated || background)) return null;
  const [first, second, ...others] = pipelines;
  if (first === undefined || others.length > 0) return null;
  if (second === undefined) return first.commands;
  return second.join === '&&' && isCd(first) ? second.commands : null;
}

function isCd({ commands: [cd, ...others] }: OutlinePipeline): boolean {
  if (cd === undefined || others.length > 0 || cd.assignments + cd.redirects > 0) return false;
  const [program, directory, ...more] = cd.words;
  if (program?.text !== 'cd' || directory === undefined || more.length > 0) return false;
  // `cd -` prints the directory, and that line does not pass the pipe.
  return !directory.text.startsWith('-');
}

/** An assignment alone is not a stage: without the pipe it would last. */
function isStage({ kind, words }: OutlineCommand): boolean {
  return STAGES.includes(kind) && (kind !== 'simple' || words.length > 0);
}

/** Returns the limit that the last stage sets, if the stage does nothing else. */
function limitOf(command: string, stage: OutlineCommand): Omit<TrailingLimit, 'command'> | null {
  if (stage.kind !== 'simple' || stage.assignments + stage.redirects > 0) return null;
  const words = stage.words.map(({ span }) => command.slice(...span)).join(' ');
  const match = /^(head|tail)(?: (?:-n ?|--lines[= ]|-)([1-9]\d{0,8}))?$/.exec(words);
  if (match === null) return null;
  return { keep: match[1] as 'head' | 'tail', lines: match[2] === undefined ? DEFAULT_LINES : Number(match[2]) };
}
