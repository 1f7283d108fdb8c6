import { visible } from '../../../core/visible.ts';

/** Most characters of a command in an accessible name. */
const NAME = 300;

/** Returns a text on one line, with invisible characters written out. */
export function oneLine(words: string): string {
  return visible(words).replace(/\s+/g, ' ').trim();
}

/** Returns a command as a part of an accessible name, such as `Stop npm test`. */
export function nameOf(command: string): string {
  const line = oneLine(command);
  return line.length > NAME ? `${line.slice(0, NAME)}…` : line;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Formats the age of a run or a question: `48 s`, `12 min 03 s`, `2 h 14 min`, `3 days`. */
export function age(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / 1_000)} s`;
  if (whole < HOUR) {
    const seconds = Math.floor((whole % MINUTE) / 1_000);
    return `${Math.floor(whole / MINUTE)} min ${String(seconds).padStart(2, '0')} s`;
  }
  if (whole < 48 * HOUR) {
    return `${Math.floor(whole / HOUR)} h ${String(Math.floor((whole % HOUR) / MINUTE)).padStart(2, '0')} min`;
  }
  return `${Math.floor(whole / (24 * HOUR))} days`;
}

/** Formats the time since an event: `14 s ago`, `3 min ago`. */
export function ago(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / 1_000)} s ago`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ago`;
  if (whole < 48 * HOUR) return `${Math.floor(whole / HOUR)} h ago`;
  return `${Math.floor(whole / (24 * HOUR))} days ago`;
}

/** Formats the duration of a run: `14 ms`, `1.2 s`, `2 min 05 s`, `8 h 24 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1).replace('.0', '')} s`;
  return age(ms).replace(' 00 s', '').replace(' 00 min', '');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size: `412 MB`, `1.9 GB`. */
export function size(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 9.95 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Formats a use of the processor, 100 % per core: `96 %`, `380 %`. */
export function percent(cores: number): string {
  return `${Math.round(100 * cores)} %`;
}

/** Shortens a path below the home directory: `~/src/shop`. */
export function shortPath(path: string, home: string): string {
  const clean = visible(path);
  if (home === '' || home === '/') return clean;
  return clean === home ? '~' : clean.startsWith(`${home}/`) ? `~${clean.slice(home.length)}` : clean;
}

/** Formats the time of a moment: `19:41:07`. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** Formats the day of a moment: `Today`, `Yesterday`, `Tuesday, 24 November`. */
export function day(at: number, now = Date.now()): string {
  const date = new Date(at).toDateString();
  if (date === new Date(now).toDateString()) return 'Today';
  if (date === new Date(now - 24 * HOUR).toDateString()) return 'Yesterday';
  return new Date(at).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
}

/** Formats a count with its noun: `1 file`, `1,204 files`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
