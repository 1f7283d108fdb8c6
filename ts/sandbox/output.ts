import type { OutputChunk } from 'agent-bash';
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
    return wanted.map((chunk) => chunk.text).join('');
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

/**
 * Takes the first line off a command's standard output and hands it to `take`; everything else goes to `pass`.
 * That is how a detached program tells its pid before it takes the shell's place.
 */
export function withoutFirstLine(take: (line: string) => void, pass: Listener): Listener {
  let line: string | null = '';
  return (chunk) => {
    if (line === null || chunk.stream !== 'stdout') return pass(chunk);
    line += chunk.text;
    const end = line.indexOf('\n');
    if (end === -1) return;
    const rest = line.slice(end + 1);
    take(line.slice(0, end));
    line = null;
    if (rest !== '') return pass({ stream: 'stdout', text: rest });
  };
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
