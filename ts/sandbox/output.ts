import { constants } from 'node:buffer';
import type { OutputChunk } from 'agent-bash';
import { failure } from './errors.ts';
import type { CommandFinished } from './types.ts';

/** The whole output of one command, chunk by chunk in the order of arrival; `bash` itself keeps only its end. */
export class Output {
  readonly #chunks: OutputChunk[] = [];

  /** Takes one chunk. */
  add(chunk: OutputChunk): void {
    this.#chunks.push({ stream: chunk.stream, text: chunk.text });
  }

  /** The text so far: of one stream, or of both in the order of arrival. */
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

  /** Both streams, whole. */
  streams(): { stdout: string; stderr: string } {
    return { stdout: this.text('stdout'), stderr: this.text('stderr') };
  }

  /** The ended command as its caller sees it. */
  finished(exitCode: number): CommandFinished {
    return {
      exitCode,
      stdout: async () => this.text('stdout'),
      stderr: async () => this.text('stderr'),
      output: async (which = 'both') => this.text(which),
    };
  }
}

/** What `bash` calls with output; a promise it returns holds the command back. */
export type Listener = (chunk: OutputChunk) => void | Promise<void>;

/** A caller's listener behind a guard: its first throw or rejection takes it away, and only it. */
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
