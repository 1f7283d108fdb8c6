import type { BashResult } from 'agent-bash';

/** What holds the parts of a confinement. */
export type Way = NonNullable<BashResult['confinement']>['way'];

/** One change of a machine, as `--json` prints it. Paths are absolute. */
export type Change =
  | { kind: 'file'; path: string; mode: number; content: string }
  | { kind: 'copy'; from: string; path: string; mode: number }
  | { kind: 'run'; argv: string[] };

/** A change that makes a file. */
export type Written = Exclude<Change, { kind: 'run' }>;

/** The removal of a file, which `--json` prints as a run of `rm`. */
export interface Removal {
  kind: 'remove';
  path: string;
}

/** The changes that take one cause away, or take these changes back. */
export interface Step {
  why: string;
  changes: (Change | Removal)[];
  /** Lines for a shell. */
  undo: string[];
  /** Lines that make use of the files: options of a container, a part of a pod. */
  use: string[];
}

/** The values of `--for`. */
export const TARGETS = ['apparmor', 'sysctl', 'docker', 'kubernetes'] as const;
export type Target = (typeof TARGETS)[number];
