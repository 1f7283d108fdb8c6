import { visible } from '../../../core/visible.ts';

/** Characters of a command in a name that a screen reader says. */
const NAME = 300;

/** Returns a command on one line, with invisible characters written out. */
export function oneLine(command: string): string {
  return visible(command).replace(/\s+/g, ' ').trim();
}

/** Returns a command as a part of a name: `Stop npm test`. */
export function nameOf(command: string): string {
  const line = oneLine(command);
  return line.length > NAME ? `${line.slice(0, NAME)}…` : line;
}

/** Formats a time span in its largest unit: `3 s`, `12 min`, `5 h`, `2 days`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Formats the duration of a run: `850 ms`, `1.2 s`, `2 min 5 s`, `1 h 2 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${Math.floor(ms / 100) / 10} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size: `12 MB`. */
export function size(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 9.95 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Shortens a path of the home directory: `~/shop`. */
export function shortPath(path: string, home: string): string {
  const clean = visible(path);
  if (home === '' || home === '/') return clean;
  return clean === home ? '~' : clean.startsWith(`${home}/`) ? `~${clean.slice(home.length)}` : clean;
}

/** Formats a moment: the time of today, else with its date. */
export function moment(at: number, now = Date.now()): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (date.toDateString() === today.toDateString()) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`;
}

/** A count with its noun: `1 file`, `3 files`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
