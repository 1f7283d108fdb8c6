import { settings, settle } from './check.ts';
import type { Mood } from './status.ts';
import { type Colour, PLAIN, RGB, type Run, type Style } from './style.ts';
import type { RenderInput, RenderOptions } from './types.ts';
import { type Kind, viewOf } from './view.ts';
import { type Frame, wrap } from './wrap.ts';

/**
 * Renders a run as text for a terminal: rows of at most `columns` cells, separated by `\n`, without a newline at the
 * end. Whatever the command has written, the only control characters are these newlines and, with `colour`, SGR
 * sequences of this package, closed within each row.
 *
 * Pure: it reads neither the environment nor the terminal. Throws `ERR_BASH_INVALID_ARG` for a wrong type.
 */
export function renderText(run: RenderInput, options: RenderOptions = {}): string {
  settle('renderText', run, options);
  const given = settings(options);
  const { lines, status } = viewOf(run, given);
  const rows = lines.map(({ kind, runs }) => {
    const own = kind === 'status' ? MOODS[status.mood] : LOOKS[kind];
    return wrap(runs, given.columns, given.colour ? (run) => frameOf(run, own) : () => UNPAINTED);
  });
  return rows.join('\n');
}

const DIM: Style = { ...PLAIN, dim: true };
const YELLOW: Style = { ...PLAIN, foreground: 3 };

/** Styles of our own lines. The output keeps its own. */
const LOOKS: Partial<Record<Kind, Style>> = {
  command: { ...PLAIN, bold: true },
  cwd: DIM,
  more: DIM,
  label: DIM,
  cut: DIM,
  elided: DIM,
  log: DIM,
  survivor: YELLOW,
  changed: DIM,
  denied: YELLOW,
  note: YELLOW,
  tests: DIM,
  hidden: YELLOW,
};

const MOODS: Record<Mood, Style> = {
  good: { ...PLAIN, foreground: 2 },
  bad: { ...PLAIN, foreground: 1 },
  open: YELLOW,
};

const UNPAINTED: Frame = { open: '', close: '' };

function frameOf({ style, ours }: Run, own: Style | undefined): Frame {
  // The parts of a command have their own colours, and stay bold.
  const look = own && (style.token || style.underline) ? { ...style, bold: own.bold } : (own ?? style);
  const codes = codesOf(ours ? DIM : look);
  return codes === '' ? UNPAINTED : { open: `\u001b[${codes}m`, close: '\u001b[0m' };
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
