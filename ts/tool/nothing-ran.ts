import type { BashError } from 'agent-bash';
import { messageOf } from '../core/listener.ts';
import type { BashToolError } from './types.ts';

/**
 * Returns an error in the form that the model reads. A foreign code (`ENOENT`) says nothing about the run and is
 * replaced.
 */
export function nothingRan(error: unknown, code: string): BashToolError {
  const { code: own, findings, missing } = Object(error) as Partial<BashError>;
  return {
    error: messageOf(error),
    code: typeof own === 'string' && own.startsWith('ERR_BASH_') ? own : code,
    ...(Array.isArray(findings) && { findings }),
    ...(Array.isArray(missing) && { missing }),
  };
}
