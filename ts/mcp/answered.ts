import type { BashToolOutput } from 'agent-bash/ai';
import type { ToolAnswer } from './server.ts';

/** Returns the answer to a call of `bash`. `notes` are those that the output does not have. */
export function answered(output: BashToolOutput, read: { type: string; value: string }, notes: string[]): ToolAnswer {
  const isError = read.type === 'error-text';
  // A check has no notes, and a command that did not run has no directory.
  if (notes.length === 0 || !('notes' in output)) {
    return { content: [{ type: 'text', text: read.value }], structuredContent: { ...output }, isError };
  }
  const lines = notes.map((note) => `[${note}]`).join('\n');
  return {
    content: [{ type: 'text', text: `${read.value}${output.notes.length > 0 ? '\n' : '\n\n'}${lines}` }],
    structuredContent: { ...output, notes: [...output.notes, ...notes] },
    isError,
  };
}
