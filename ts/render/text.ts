import { settings, settle } from './check.ts';
import type { Mood } from './status.ts';
import { type Colour, PLAIN, RGB, type Run, type Style } from './style.ts';
import type { RenderInput, RenderOptions } from './types.ts';
import { type Kind, viewOf } from './view.ts';
import { wrap } from './wrap.ts';

/**
 * A run as text for a terminal: rows of at most `columns` cells with `\n` between them, no newline at the end. It has no control
 * character but that newline, and with `colour` SGR sequences of ours, ended within each row; whatever the command has written.
 *
 * Pure: neither the environment nor the terminal is looked at. Throws `ERR_BASH_INVALID_ARG` for what is of a wrong type.
 */
export function renderText(run: RenderInput, options: RenderOptions = {}): string {
  settle(run, options);
  const given = settings(options);
  const { lines, status } = viewOf(run, given);
  const rows = lines.flatMap(({ kind, runs }) => {
    const own = kind === 'status' ? MOODS[status.mood] : LOOKS[kind];
    return wrap(runs, given.columns).map((row) => (given.colour ? painted(row, own) : plain(row)));
  });
  return rows.join('\n');
}

const DIM: Style = { ...PLAIN, dim: true };
const YELLOW: Style = { ...PLAIN, foreground: 3 };

/** What is ours looks like; the output looks as it does. */
const LOOKS: Partial<Record<Kind, Style>> = {
  command: { ...PLAIN, bold: true },
  cwd: DIM,
  more: DIM,
  label: DIM,
  cut: DIM,
  log: DIM,
  survivor: YELLOW,
  note: YELLOW,
};

const MOODS: Record<Mood, Style> = {
  good: { ...PLAIN, foreground: 2 },
  bad: { ...PLAIN, foreground: 1 },
  open: YELLOW,
};

function plain(row: Run[]): string {
  return row.map(({ text }) => text).join('');
}

function painted(row: Run[], own: Style | undefined): string {
  return row
    .map(({ text, style, ours }) => {
      const codes = codesOf(ours ? DIM : (own ?? style));
      return codes === '' ? text : `\u001b[${codes}m${text}\u001b[0m`;
    })
    .join('');
}

function codesOf({ bold, dim, italic, underline, inverse, strike, foreground, background }: Style): string {
  const codes: string[] = [];
  if (bold) codes.push('1');
  if (dim) codes.push('2');
  if (italic) codes.push('3');
  if (underline) codes.push('4');
  if (inverse) codes.push('7');
  if (strike) codes.push('9');
  if (foreground !== null) codes.push(colourCode(foreground, 30));
  if (background !== null) codes.push(colourCode(background, 40));
  return codes.join(';');
}

function colourCode(colour: Colour, base: 30 | 40): string {
  if (colour & RGB) return `${base + 8};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
  if (colour >= 16) return `${base + 8};5;${colour}`;
  return String(colour >= 8 ? base + 60 + colour - 8 : base + colour);
}
