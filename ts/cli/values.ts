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

/** Parses the time for which work goes on without a link, in ms. With 0 it ends with the link. */
export function parseLinger(text: string): number {
  return /^0(?:ms|s|m|h)?$/.test(text.trim()) ? 0 : parseDuration(text);
}

const AGO: Record<string, number> = { ...UNITS, d: 86_400_000 };

/** Parses a moment: a time ago such as `2h` or `3d`, or a date such as `2026-01-31` or `2026-01-31T14:00`. In ms. */
export function parseMoment(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const ago = Number(number) * (AGO[unit] ?? Number.NaN);
  const moment = Number.isNaN(ago) ? dateOf(text.trim()) : Date.now() - ago;
  if (Number.isFinite(moment)) return moment;
  throw new InvalidArgumentError('It must be a time ago such as 30m, 2h or 3d, or a date such as 2026-01-31.');
}

/** A date without a time begins where this process runs, and not in UTC. */
function dateOf(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(text)) return Number.NaN;
  return new Date(text.includes('T') ? text : `${text}T00:00`).getTime();
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
export function parseOnAsk(text: string): 'allow' | 'deny' | 'page' {
  if (text === 'allow' || text === 'deny' || text === 'page') return text;
  throw new InvalidArgumentError('It must be allow, deny or page.');
}

/** Parses a port; 0 is a free one. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

/** Collects the ports of a repeated option, in order. */
export function gatherPorts(text: string, before: number[] = []): number[] {
  return [...before, parsePort(text)];
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
