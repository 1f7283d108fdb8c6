import type { Output, Screen } from '../host/protocol.ts';

/** Receives the output of a followed run. */
export interface OutputSink {
  /** `start`: the first text. It takes the place of all text before. */
  output(piece: Pick<Output, 'text' | 'gap' | 'end'>, start: boolean): void;
  screen(screen: Screen): void;
  /** There is no output, or no more of it. */
  none(why: string): void;
}

/** A source of output. */
export interface Follow {
  /** Stops reading until `resume`. What is dropped meanwhile is counted as a gap. */
  pause(): void;
  resume(): void;
  close(): void;
}
