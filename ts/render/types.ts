import type { BashResult } from 'agent-bash';

/** A run as it is to be shown. */
export interface RenderInput {
  /** The command. Whatever cannot be seen in it is written out (`\u202e`): a person may judge by it. */
  command: string;
  /** The folder it runs in. Default: none is shown. */
  cwd?: string | undefined;
  /** What `bash()` has resolved to; `null` while it runs, and where nothing could be run. */
  result: BashResult | null;
  /** The live text: what `onOutput` has brought so far, or the streams of a snapshot. Beside a result it is shown in the place of its streams. */
  output?: string | undefined;
  /** How long it has run so far, in ms. Beside a result that one's own figure counts. */
  elapsedMs?: number | undefined;
  /** Its time limit in ms. Beside a result that one's own counts. */
  timeoutMs?: number | undefined;
  /** Why nothing could be run: what `bash()` has rejected with. Default: it runs, or has ended. */
  error?: RenderFailure | null | undefined;
}

/** An error of `bash()`, or any other. */
export interface RenderFailure {
  message: string;
  /** The stable code (`'ERR_BASH_BLOCKED'`). */
  code?: string | undefined;
}

/** How it is shown. */
export interface RenderOptions {
  /** Everything that is kept, in place of a preview. Default `false`. */
  expanded?: boolean | undefined;
  /** Cells of a row, a whole number of at least 1; `Infinity` wraps nothing, for logs. Default 80. HTML is wrapped by whoever shows it. */
  columns?: number | undefined;
  /** Whether colours are shown, those of the output and ours. Default `true`. */
  colour?: boolean | undefined;
  /** How many logical lines of the output a preview has, of both streams in all: a whole number of at least 0. Default 20. */
  previewLines?: number | undefined;
}
