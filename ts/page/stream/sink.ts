import type { Output, Screen } from '../host/protocol.ts';

/** Receives the output of a followed run. */
export interface OutputSink {
  /** Receives text. With `start`, it replaces all earlier text. */
  output(piece: Pick<Output, 'text' | 'gap' | 'end'>, start: boolean): void;
  screen(screen: Screen): void;
  /** Receives the reason why there is no output, or no more of it. */
  none(why: string): void;
}

/** A source of output. */
export interface Follow {
  /** Stops reading until `resume`. Output that is dropped meanwhile counts as a gap. */
  pause(): void;
  resume(): void;
  close(): void;
}
