import { constants } from 'node:buffer';
import type { BashResult, OutputChunk } from 'agent-bash';
import { failure } from './errors.ts';
import type { CommandFinished, Confined, Losable, Recorded } from './types.ts';

type Facts = Losable & Confined & Recorded;

/** The exit of a command. */
export interface Ended {
  exitCode: number;
  aborted: boolean;
  /** The target that was lost before the command had ended there, or `null`. */
  lost: string | null;
  /** The signal that ended it, or `null`. */
  signal: BashResult['signal'];
  survivors: BashResult['survivors'];
  confinement: BashResult['confinement'];
  runId: BashResult['runId'];
  receipt: BashResult['receipt'];
  undo: BashResult['undo'];
}

/** The whole output of one command, in chunks in order of arrival. `bash` itself keeps only the last part. */
export class Output {
  readonly #chunks: OutputChunk[] = [];

  /** Appends one chunk. */
  add(chunk: OutputChunk): void {
    this.#chunks.push({ stream: chunk.stream, text: chunk.text });
  }

  /** Returns the text so far of one stream, or of both in order of arrival. */
  text(which: 'stdout' | 'stderr' | 'both'): string {
    const wanted = which === 'both' ? this.#chunks : this.#chunks.filter((chunk) => chunk.stream === which);
    const length = wanted.reduce((sum, { text }) => sum + text.length, 0);
    if (length > constants.MAX_STRING_LENGTH) {
      throw failure(
        'ERR_STRING_TOO_LONG',
        `its output of ${length} characters is more than a string can hold: read it from a spawned command, or send it to a file`,
      );
    }
    return wanted.map((chunk) => chunk.text).join('');
  }

  /** Returns both streams, whole. */
  streams(): { stdout: string; stderr: string } {
    return { stdout: this.text('stdout'), stderr: this.text('stderr') };
  }

  /** Returns the finished command in the caller's shape. */
  finished(ended: Ended): CommandFinished {
    return {
      exitCode: ended.exitCode,
      ...factsOf(ended),
      stdout: async () => this.text('stdout'),
      stderr: async () => this.text('stderr'),
      output: async (which = 'both') => this.text(which),
    };
  }
}

/** Returns the fields of a result that only lost commands, confined ones and recorded ones have. */
export function factsOf({ lost, confinement, runId, receipt, undo }: Omit<Ended, 'exitCode'>): Facts {
  return {
    ...(lost !== null && { lost: true }),
    ...(confinement && { confinement }),
    ...((receipt || undo) && { runId }),
    ...(receipt && { receipt }),
    ...(undo && { undo }),
  };
}

/** Receives output. A returned promise holds the command back. */
export type Listener = (chunk: OutputChunk) => void | Promise<void>;

/** Wraps a caller's listener: its first throw or rejection disables it, without any other effect. */
export function guarded(listener: Listener | undefined): Listener {
  let current = listener;
  return async (chunk) => {
    try {
      await current?.(chunk);
    } catch {
      current = undefined;
    }
  };
}
