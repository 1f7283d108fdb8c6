import type { NativeLedgerBatch } from '../../native.cjs';
import { type EventOf, settled, theBridge } from '../core/calls.ts';
import type { Refusal } from '../core/inner.ts';
import { ledgerByEnvironment } from '../core/ledger.ts';
import { loadNative } from '../core/native.ts';
import { directoryOf, ownEnvironment } from '../request.ts';
import { checkRead, nativeQuery } from './options.ts';
import type { LedgerEntry, ReadLedgerOptions } from './types.ts';

/** Reads the ledger; see `readLedger` of the main entry. */
export async function* entries(options: ReadLedgerOptions): AsyncGenerator<LedgerEntry, void, undefined> {
  for await (const { text } of batches(options)) {
    for (const line of text.toString().split('\n')) {
      if (options.signal?.aborted) return;
      if (line !== '') yield JSON.parse(line) as LedgerEntry;
    }
  }
}

/** Reads the ledger as text, in pieces. With `colours`, true or false, the text is for people, and otherwise JSON. */
export async function* batches(
  options: ReadLedgerOptions,
  colours: boolean | null = null,
): AsyncGenerator<NativeLedgerBatch, void, undefined> {
  checkRead(options);
  const { signal } = options;
  const reader = new (loadNative().NativeLedger)(theBridge(), nativeQuery(options), ownEnvironment(), colours);
  while (!signal?.aborted) {
    const batch = await settled({
      begin: () => reader.next(),
      kind: 'ledger',
      answer: (event: EventOf<'ledger'>) => event.batch,
      signal,
      abort: (way, id) => way.abort(id),
    });
    yield batch;
    if (batch.done) return;
  }
}

/**
 * Records a command that was refused before it could run, unless its options or `AGENT_BASH_LEDGER` say no. Returns its
 * run, or `null` if it is not recorded.
 */
export function recordRefusal({ command, options, ...entry }: Refusal): string | null {
  const { ledger, actor, cwd } = options;
  if (!(ledger ?? ledgerByEnvironment() ?? true)) return null;
  return theBridge().recordRefusal(
    command,
    directoryOf({ cwd }),
    ownEnvironment(),
    JSON.stringify({ ...entry, actor }),
  );
}
