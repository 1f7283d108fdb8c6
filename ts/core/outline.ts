/** The top level of a command as the reader of the core understands it. Spans are half-open offsets into it. */
export interface Outline {
  /** Whether bash would read the whole text. If not, only the pipelines before the error are listed. */
  complete: boolean;
  /** Whether a heredoc occurs anywhere. Its body lies outside of the span of its command. */
  heredocs: boolean;
  pipelines: OutlinePipeline[];
}

export interface OutlinePipeline {
  /** Null for the first pipeline and after `;`, `&` or a newline. */
  join: '&&' | '||' | null;
  /** Whether `!` precedes the pipeline. */
  negated: boolean;
  /** Whether `&` ends the list that contains the pipeline. */
  background: boolean;
  /** Empty for a `time` or `!` without a command. */
  commands: OutlineCommand[];
}

export interface OutlineCommand {
  kind: 'simple' | 'group' | 'subshell' | 'if' | 'loop' | 'for' | 'case' | 'function' | 'test' | 'coproc';
  /** Up to the end of the last word or redirect. */
  span: [start: number, end: number];
  /** Whether `|&` follows. */
  pipesStderr: boolean;
  /**
   * The words of a simple command, its program first. `known`: `text` is the word's value; otherwise it is its source.
   */
  words: { text: string; known: boolean; span: [start: number, end: number] }[];
  assignments: number;
  redirects: number;
}
