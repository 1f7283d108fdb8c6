// Lines of the table: a value with its unit, its target, and whether the target was met.

const line =
  (unit) =>
  (what, value, { reach = null, note = '' } = {}) => ({ what, value, unit, reach, note });

export const ratio = line('ratio');
export const time = line('ms');
export const size = line('bytes');
export const number = line('count');
export const percent = line('percent');

export const milliseconds = (value) => `${value.toFixed(value < 1 ? 3 : 2)} ms`;
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
export const rate = (bytesPerSecond) => `${(bytesPerSecond / 1e9).toFixed(2)} GB/s`;

const FORMATS = {
  ratio: (value) => value.toFixed(2),
  ms: milliseconds,
  bytes: (value) => (value < 1e6 ? `${Math.round(value / 1e3)} kB` : megabytes(value)),
  count: String,
  percent: (value) => `${value.toFixed(1)} %`,
};

/** Returns whether the target was met, or null for a line without one. */
export function met({ value, reach }) {
  if (reach === null) return null;
  return value <= (reach.max ?? Number.POSITIVE_INFINITY) && value >= (reach.min ?? Number.NEGATIVE_INFINITY);
}

function reachText({ unit, reach }) {
  if (reach === null) return '';
  const bound = reach.max === undefined ? `≥ ${FORMATS[unit](reach.min)}` : `≤ ${FORMATS[unit](reach.max)}`;
  return reach.aim === undefined ? bound : `${bound}, aim ${FORMATS[unit](reach.aim)}`;
}

const MARKS = { true: 'met', false: 'MISSED', null: '' };

/** Renders one row of the benchmark as a text table. */
export function render(title, lines) {
  const cells = lines.map((one) => [one.what, FORMATS[one.unit](one.value), reachText(one), MARKS[met(one)], one.note]);
  const header = ['', 'measured', 'target', '', ''];
  const widths = header.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i].length)));
  const print = (row) =>
    row
      .map((cell, i) => (i === 1 ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd();
  return [title, ...[header, ...cells].map((row) => `  ${print(row)}`)].join('\n');
}
