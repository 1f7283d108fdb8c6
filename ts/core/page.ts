import type { NativeAnswer } from '../../native.cjs';
import { type EventOf, settled, theBridge } from './calls.ts';
import type { PageQuestion } from './inner.ts';

/** Lets pages connect to this process before its first command. */
export function listen(): void {
  theBridge().listen();
}

/** Asks on all pages with control. Returns the first answer; `null` as `askPage` in `inner.ts` says. */
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

/** Replaces lone surrogates, which other programs cannot read. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value;
}
