import { messageOf } from '../core/listener.ts';
import type { ToolAnswer } from './server.ts';

/** Returns the answer to a call that did nothing. */
export function failed(error: unknown): ToolAnswer {
  const { code } = Object(error) as { code?: unknown };
  const named = typeof code === 'string' && code.startsWith('ERR_BASH_') ? code : 'ERR_BASH_INVALID_ARG';
  const text = messageOf(error);
  return { content: [{ type: 'text', text }], structuredContent: { error: text, code: named }, isError: true };
}
