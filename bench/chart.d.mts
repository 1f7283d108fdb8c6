/** Output of `npm run bench -- --json`, as far as the chart uses it. */
export interface Results {
  machine: Record<string, unknown>;
  report: { row: string; lines: { what: string; value: number }[] }[];
}

export const ROWS: string[];
export function figures(results: Results): {
  start: Record<string, number>;
  warm: number;
  heap: Record<string, number>;
};
export function chart(results: Results): string;
