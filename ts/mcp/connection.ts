import { onAbort } from '../core/abort.ts';
import type { ToolCall } from './server.ts';

const closings = new WeakMap<object, AbortController>();

/**
 * Runs `work` with a signal that aborts when the client cancels the call or the connection closes, on any transport.
 * Early versions of the SDK let a call continue after a disconnection.
 */
export async function whileConnected<T>(call: ToolCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const closing = closingOf(call.server.server.transport);
  const forget = [call.signal, closing].map((signal) => {
    const end = () => ending.abort(signal?.reason);
    if (signal?.aborted) end();
    return signal && onAbort(signal, end);
  });
  try {
    return await work(ending.signal);
  } finally {
    for (const one of forget) one?.();
  }
}

/**
 * Returns a signal that aborts when a transport closes. The server listens with the transport's only callback, so ours
 * is put before it.
 */
function closingOf(transport: { onclose?: (() => void) | undefined } | undefined): AbortSignal | undefined {
  if (transport === undefined) return undefined;
  const known = closings.get(transport);
  if (known) return known.signal;
  const closing = new AbortController();
  closings.set(transport, closing);
  const { onclose } = transport;
  transport.onclose = () => {
    closing.abort();
    onclose?.call(transport);
  };
  return closing.signal;
}
