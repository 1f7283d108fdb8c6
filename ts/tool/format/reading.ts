import type { Advice } from './advice.ts';

/** The facts that a text for a model depends on, besides the output. */
export interface Reading {
  /** The default is that for our own bash tool. */
  advice?: Advice | undefined;
  /** Whether the model may ask for access that a confinement denied. */
  asks?: boolean | undefined;
  /** Whether the model may undo runs. */
  undoes?: boolean | undefined;
  /** Whether the text of a success with standard output alone is that output alone. */
  bare?: boolean | undefined;
  /** The directory that paths are shown relative to. */
  cwd?: string | undefined;
}
