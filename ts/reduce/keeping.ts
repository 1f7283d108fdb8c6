import { internalKey } from '../core/internal.ts';
import type { ReduceOptions, View } from './types.ts';

/** How far the text of a result is reduced. */
export type Level = 'off' | NonNullable<ReduceOptions['level']>;

/** The option `reduce`, given. */
export type Reduce = Level | ReduceOptions;

/**
 * Names the option of `bash` by which a tool keeps the outputs of which views leave out lines.
 */
export const KEEPING: unique symbol = internalKey('keeping');

/** Bytes of all outputs that a store keeps, if the caller gives no number. */
export const STORE_BYTES: number = 256 * 1024 * 1024;

/** Names the methods of an `OutputStore` that only this package calls. */
export const STORE: unique symbol = internalKey('output-store');

/** An earlier result that a model still reads. */
export interface Earlier {
  /** The number of its output. */
  id: number;
  /** The text of the output: standard output, then standard error. */
  text: string;
  /** The first and the last line of each part, from 1, that the model does not read there. */
  hidden: [from: number, to: number][];
}

/** The place of whole outputs, and the caller's knowledge of the conversation. */
export interface Keeping {
  /** An `OutputStore`. */
  store: object;
  /** Whether the model can recall lines by the number of an output. Without it the view names the file alone. */
  recall: boolean;
  /** Earlier results that the model still reads, the latest last. */
  earlier: readonly Earlier[];
  /** Whether the command was the producer of a pipeline whose filter the tool has taken away. */
  isProducer?: boolean | undefined;
}

/** Options with a place for whole outputs. */
export interface Kept {
  [KEEPING]?: Keeping;
}

/** An output that something other than `bash` has made. */
export interface Output {
  stdout: string;
  stderr: string;
  /** The command, if it is known. */
  command?: string | undefined;
  /** The exit code, `null` if a signal or a limit ended the command. Left out: not known. */
  exitCode?: number | null | undefined;
}

/** The methods of an `OutputStore` that only this package calls. */
export interface Keeper {
  /** The names of the rules that do not pay. */
  readonly off: string[];
  /** Bytes of all outputs that the store keeps. */
  readonly maxBytes: number;
  /**
   * Resolves with the view of an output, or with `null` if nothing is gained. If the view leaves out lines, the output
   * is written first. If it cannot be written, nothing is left out.
   */
  view(output: Output, reduce: Reduce, how: Omit<Keeping, 'store'>): Promise<View | null>;
  /** Answers a recall of a model with lines, or with the reason why there are none. */
  recall(text: string): Promise<string | { error: string; code: string }>;
  /** Notes that the command of an output was run again at once, which counts as a recall. */
  again(id: number): void;
  /** Returns a number that no output has. */
  number(): number;
  /** Returns whether an output can be recalled. */
  knows(id: number): boolean;
  /** Keeps an output under its number. Resolves with its file, or with `null` if it cannot be written. */
  hold(id: number, text: string): Promise<string | null>;
  /** Deletes an output. */
  drop(output: Pick<View, 'id' | 'path'>): void;
}

/** Returns the methods of an `OutputStore` that only this package calls. */
export function keeperOf(store: object): Keeper {
  return (store as { [STORE]: Keeper })[STORE];
}
