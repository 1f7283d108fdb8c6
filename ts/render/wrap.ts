import type { Run } from './style.ts';
import { clusters, isAscii } from './width.ts';

/** The codes around each part of a run. They are closed within each row. */
export interface Frame {
  open: string;
  close: string;
}

/**
 * Returns a logical line as rows of limited cells, separated by newlines. A wide character in a single column gets a
 * row of its own. A line of 1 MB may have a million rows, so no row is an object.
 */
export function wrap(runs: readonly Run[], columns: number, frameOf: (run: Run) => Frame): string {
  const rows = new Rows(columns);
  for (const run of runs) {
    const frame = frameOf(run);
    if (columns === Number.POSITIVE_INFINITY) rows.add(run.text, 0, frame);
    else if (isAscii(run.text)) cut(run.text, rows, frame);
    else fill(run.text, rows, frame);
  }
  return rows.text;
}

/** The rows written so far. */
class Rows {
  /** Cells that are free in the last row. */
  left: number;
  readonly columns: number;
  readonly #parts: string[] = [];

  constructor(columns: number) {
    this.columns = columns;
    this.left = columns;
  }

  get text(): string {
    return this.#parts.join('');
  }

  add(text: string, width: number, { open, close }: Frame): void {
    this.#parts.push(open === '' ? text : `${open}${text}${close}`);
    this.left = Math.max(0, this.left - width);
  }

  next(): void {
    this.#parts.push('\n');
    this.left = this.columns;
  }
}

/** Adds text whose units have one cell each. */
function cut(text: string, rows: Rows, frame: Frame): void {
  for (let at = 0; at < text.length; ) {
    if (rows.left === 0) rows.next();
    const end = Math.min(text.length, at + rows.left);
    rows.add(text.slice(at, end), end - at, frame);
    at = end;
  }
}

function fill(text: string, rows: Rows, frame: Frame): void {
  let part = '';
  let width = 0;
  for (const cluster of clusters(text)) {
    const left = Math.max(0, rows.left - width);
    if (cluster.width > left && left < rows.columns) {
      if (part !== '') rows.add(part, width, frame);
      part = '';
      width = 0;
      rows.next();
    }
    part += cluster.text;
    width += cluster.width;
  }
  if (part !== '') rows.add(part, width, frame);
}
