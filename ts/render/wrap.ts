import type { Run } from './style.ts';
import { clusters, isAscii } from './width.ts';

/** A logical line as rows of at most so many cells; a character of two cells in a single column stands alone. */
export function wrap(runs: Run[], columns: number): Run[][] {
  if (columns === Number.POSITIVE_INFINITY) return [runs];
  let row: Run[] = [];
  const rows = [row];
  let left = columns;
  const next = () => {
    row = [];
    rows.push(row);
    left = columns;
  };
  for (const run of runs) {
    if (isAscii(run.text)) {
      for (let at = 0; at < run.text.length; ) {
        if (left === 0) next();
        const text = run.text.slice(at, at + left);
        row.push({ ...run, text });
        at += text.length;
        left -= text.length;
      }
    } else {
      let text = '';
      for (const cluster of clusters(run.text)) {
        if (cluster.width > left && left < columns) {
          if (text !== '') row.push({ ...run, text });
          text = '';
          next();
        }
        text += cluster.text;
        left = Math.max(0, left - cluster.width);
      }
      if (text !== '') row.push({ ...run, text });
    }
  }
  return rows;
}
