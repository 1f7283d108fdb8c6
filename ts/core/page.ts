import type { NativeAnswer } from '../../native.cjs';
import { type EventOf, settled, theBridge } from './calls.ts';
import type { PageQuestion } from './inner.ts';

/** Lets a page watch this process, and answer its questions, before its first command. */
export function listen(): void {
  theBridge().listen();
}

/**
 * Asks the people who watch on a page. The signal withdraws the question. `null` if no page is there that may answer,
 * if none is left, and if it was withdrawn.
 */
export async function askPage(question: PageQuestion, signal: AbortSignal): Promise<NativeAnswer | null> {
  if (signal.aborted) return null;
  return await settled({
    begin: (way) => way.ask(JSON.stringify(question, wellFormed)),
    kind: 'answered',
    answer: ({ answer }: EventOf<'answered'>) => answer ?? null,
    signal,
    abort: (way, id) => way.abort(id),
  });
}

/** A lone surrogate is no text that another program could read. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value;
}
