import type { BashTool } from '../types.ts';

/** Most signals that are remembered. The oldest are dropped first. */
const MOST = 1_000;
const signals = new Map<string, WeakRef<AbortSignal>>();

/**
 * Remembers the signal of a call: an approval is asked about the call next, and neither major passes the signal to it.
 */
export const rememberSignal: BashTool['onInputAvailable'] = ({ toolCallId, abortSignal }) => {
  signals.delete(toolCallId);
  if (abortSignal === undefined) return;
  signals.set(toolCallId, new WeakRef(abortSignal));
  const [oldest] = signals.keys();
  if (signals.size > MOST && oldest !== undefined) signals.delete(oldest);
};

/** Returns the signal of a call that waits for an approval. `undefined` if it is not known. */
export function signalOfCall(toolCallId: string | undefined): AbortSignal | undefined {
  return toolCallId === undefined ? undefined : signals.get(toolCallId)?.deref();
}
