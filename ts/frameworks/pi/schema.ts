import type { BashToolOutput } from '../../tool/types.ts';
import { outcomeOf } from '../shared/outcome.ts';

/** The schema of `structuredContent`, which scripts of pi 1 get in place of the text. */
export const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    output: { type: 'string' },
    truncated: { type: 'boolean' },
    full_output_path: { type: 'string' },
    exit_code: { type: ['number', 'null'], description: 'null while the command runs in the background.' },
    wall_time_seconds: { type: 'number' },
  },
  required: ['output', 'truncated', 'exit_code', 'wall_time_seconds'],
};

/** The result of a call, in the form of pi. */
export interface PiResult {
  content: { type: 'text'; text: string }[];
  details: { result?: BashToolOutput; fullOutputPath?: string };
  /** Read by pi 1. */
  structuredContent?: Record<string, unknown>;
  /** Whether the exit code is not 0; read by pi 1. */
  isError?: boolean;
}

/** Returns the result of a call. `details` shows pi's renderer where the whole output is. */
export function piResult(result: BashToolOutput, text: string): PiResult {
  const { text: output, truncated, path, exitCode, durationMs } = outcomeOf(result);
  const isCheck = 'task' in result;
  return {
    content: [{ type: 'text', text }],
    details: { result, ...(path !== null && { fullOutputPath: path }) },
    structuredContent: {
      output,
      truncated,
      ...(path !== null && { full_output_path: path }),
      exit_code: exitCode,
      wall_time_seconds: Math.round(durationMs / 100) / 10,
    },
    isError: !isCheck && exitCode !== null && exitCode !== 0,
  };
}
