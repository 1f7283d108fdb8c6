import type { BashError } from 'agent-bash';
import { messageOf } from '../listener.ts';
import type { BashToolError } from './types.ts';

/** An error as the model reads it. Codes of others (`ENOENT`) say nothing about the run. */
export function nothingRan(error: unknown, code: string): BashToolError {
  const { code: own, findings } = Object(error) as Partial<BashError>;
  return {
    error: messageOf(error),
    code: typeof own === 'string' && own.startsWith('ERR_BASH_') ? own : code,
    ...(Array.isArray(findings) && { findings }),
  };
}
