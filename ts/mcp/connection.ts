import { onAbort } from '../abort.ts';
import type { ToolCall } from './server.ts';

const closings = new WeakMap<object, AbortController>();

/**
 * Runs `work` with a signal that is aborted when the client cancels the call and when the connection closes, whichever it came
 * through: early versions of the SDK let a call go on then.
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

/** Aborted when a transport closes. A server listens to it by a callback, of which there is one: ours comes before that. */
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
