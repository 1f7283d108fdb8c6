import { bash } from 'agent-bash';
import { InvalidArgumentError } from 'commander';
import { innerOf } from '../core/inner.ts';

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a time such as `90`, `90s`, `1.5m` or `500ms`, in ms. A bare number is seconds. */
export function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
  if (ms >= 1 && ms <= innerOf(bash).facts().request.maxLimitMs) return ms;
  throw new InvalidArgumentError('It must be a time such as 90, 90s, 500ms, 5m or 2h, at most 24h.');
}

/** Collects the values of a repeated option, in order. */
export function gather(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Parses a rule and its level, `git-clean=off`, into a record by rule id. */
export function parseRule(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, id, level] = /^([^=]+)=(off|warn|ask|deny)$/.exec(text) ?? [];
  if (id === undefined || level === undefined) {
    throw new InvalidArgumentError('It must be the id of a rule and off, warn, ask or deny, as in git-clean=off.');
  }
  return { ...before, [id]: level };
}

/** Parses the treatment of a command that a person would be asked about. */
export function parseOnAsk(text: string): 'allow' | 'deny' {
  if (text === 'allow' || text === 'deny') return text;
  throw new InvalidArgumentError('It must be allow or deny.');
}

/** Parses a number of lines, from 0. */
export function parseLines(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** Returns the time since, in the largest unit that fits: `3 s`, `12 min`, `5 h`, `2 days`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
