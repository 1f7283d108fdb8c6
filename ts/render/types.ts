import type { BashResult, HighlightToken } from 'agent-bash';

/** A run as it is to be shown. */
export interface RenderInput {
  /** The command. Its invisible characters are written out (`\u202e`): a person may judge by it. */
  command: string;
  /** The parts of the command, from `highlight(command)`, which get colours. Default: the command has one colour. */
  tokens?: readonly HighlightToken[] | undefined;
  /**
   * Parts of the command to underline, from and up to a UTF-16 unit, such as the `span` of each finding of `analyze`.
   * Default: none.
   */
  marked?: readonly (readonly [from: number, to: number])[] | undefined;
  /** The directory in which it runs. Default: none is shown. */
  cwd?: string | undefined;
  /** The result of `bash()`; `null` while the command runs, and if nothing could be run. */
  result: BashResult | null;
  /**
   * The live text: what `onOutput` has brought so far, or the streams of a snapshot. Beside a result it is shown in the
   * place of its streams.
   */
  output?: string | undefined;
  /** How long the command has run so far, in ms. If a result is given, its own figure counts. */
  elapsedMs?: number | undefined;
  /** The time limit of the command in ms. If a result is given, its own limit counts. */
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

/** How a run is shown. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface RenderOptions {
  /**
   * Whether everything that is kept is shown, and not a preview.
   *
   * @default false
   * @example renderText({ command, result }, { expanded: true });
   */
  expanded?: boolean | undefined;
  /**
   * Cells per row, a whole number of at least 1. `Infinity` wraps nothing, for logs. HTML is wrapped by the page that
   * shows it.
   *
   * @default 80
   * @example renderText({ command, result }, { columns: process.stdout.columns });
   */
  columns?: number | undefined;
  /**
   * Whether colours are shown, both the output's colours and the added colours.
   *
   * @default true
   * @example renderText({ command, result }, { colour: process.stdout.isTTY });
   */
  colour?: boolean | undefined;
  /**
   * How many logical lines of the output a preview has, of both streams together: a whole number of at least 0.
   *
   * @default 20
   * @example renderText({ command, result }, { previewLines: 5 });
   */
  previewLines?: number | undefined;
}
