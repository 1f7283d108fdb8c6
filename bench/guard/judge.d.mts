export interface Cost {
  instructions?: number;
  calls?: number;
  bytes?: number;
}
export type Figures = Record<string, Cost & { tolerance?: number; why?: string }>;
export function judge(
  figures: Figures,
  measured: Record<string, Cost>,
  names: string[],
): { lines: string[]; wrong: string[] };
export function updated(figures: Figures, measured: Record<string, Cost>): Figures;
