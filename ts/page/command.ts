import { analyze, highlight } from 'agent-bash';
import type { PageCommand, PageFinding } from './wire.ts';

/** Returns a command with its tokens. The tokens of `before` are reused if it is the same command. */
export function commandOf(command: string, before?: PageCommand): PageCommand {
  return { command, tokens: before?.command === command ? before.tokens : highlight(command) };
}

/** Returns what the safety engine says about a command, in the order of the text. */
export function findingsOf(command: string, cwd: string): PageFinding[] {
  try {
    const { findings } = analyze(command, { cwd });
    return findings
      .filter(({ level }) => level !== 'allow')
      .map(({ level, span, message, suggestion }) => ({ level, span, message, suggestion }))
      .sort((one, other) => one.span[0] - other.span[0]);
  } catch {
    // The directory was removed, or the command was truncated.
    return [];
  }
}
