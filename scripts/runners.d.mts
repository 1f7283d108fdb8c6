export interface Failure {
  file: string | null;
  name: string | null;
  message: string;
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  failures: Failure[];
}

export function again(failures: Failure[]): string;
export function closing(counts: Counts): string;
export function notRun(files: string[], report: { testResults: { name: string }[] }, place: string): Counts[];
export function only(failure: Failure): string[];
export function rustCounts(output: string): Counts;
export function titleOf(failure: Failure): string;
