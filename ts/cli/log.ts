import { type BashError, bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { Failure, readerGone, remark, wantsColour, write } from './console.ts';

interface LogOptions {
  cwd?: string;
  agent?: string;
  since?: number;
  failed?: boolean;
  changed?: string;
  grep?: string;
  json?: boolean;
  follow?: boolean;
}

/** `agent-bash log`: prints the ledger. The addon makes the text, since there may be 100,000 entries. */
export async function log({ grep, json, follow, ...filters }: LogOptions): Promise<void> {
  const options = { ...filters, text: grep, follow, signal: interruption(follow === true) };
  let passed = { damaged: 0, removed: 0 };
  try {
    for await (const { text, damaged, removed } of innerOf(bash).readLedger(options, json ? null : wantsColour())) {
      await write(process.stdout, text);
      if (readerGone.signal.aborted) return;
      passed = { damaged, removed };
    }
  } catch (error) {
    throw (error as BashError).code === 'ERR_BASH_INVALID_ARG' ? Failure.of(error, 2) : error;
  }
  const { damaged, removed } = passed;
  if (damaged > 0) await remark(`${damaged} damaged ${damaged === 1 ? 'line was' : 'lines were'} skipped`);
  const wantsAll = grep === undefined && Object.keys(filters).length === 0;
  if (removed > 0 && !json && wantsAll) {
    await remark(`older entries were removed: ${removed} ${removed === 1 ? 'day' : 'days'}`);
  }
}

/** Returns a signal that ends a log that is followed: at Ctrl-C, and when the output has no reader. */
function interruption(follow: boolean): AbortSignal {
  const ending = new AbortController();
  readerGone.signal.addEventListener('abort', () => ending.abort());
  if (follow) for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => ending.abort());
  return ending.signal;
}
