import type { BashResult, BashSnapshot, Bridge, NativeEvent, OutputChunk } from '../native.cjs';
import { settled } from './bridge';
import { failureOf, messageOf } from './listener';
import { checkOptions } from './options';
import { defaultRegistry } from './registry';
import { toNative } from './request';
import type { BashOptions } from './types';

/** Runs a command; see `bash` of the main entry. Never throws synchronously: it is asynchronous as a whole. */
export async function run(command: string, options: BashOptions = {}): Promise<BashResult> {
  checkOptions(command, options);
  const request = toNative(command, withRegistry(options));
  return settled<BashResult>({
    ask: (way) => way.start(...request),
    answer: (event) => event.result,
    meanwhile: (way, event) => tell(way, event, options),
    signal: options.signal,
    abort: (way, id) => way.abort(id),
  });
}

/** What goes to the background needs a registry to go to. */
export function withRegistry(options: BashOptions): BashOptions {
  const needed = options.mode === 'background' || options.onTimeout === 'background';
  return needed && options.registry === undefined ? { ...options, registry: defaultRegistry() } : options;
}

/** Passes on what a command has to say while it runs. */
export function tell(way: Bridge, event: NativeEvent, options: BashOptions): void {
  const { id } = event;
  if (event.output) void hear(way, id, options, event.output);
  else if (event.snapshot) void see(way, id, options, event.snapshot);
  else if (event.allocate) allocate(way, id, options, event.allocate);
}

async function hear(way: Bridge, id: number, { onOutput }: BashOptions, chunk: OutputChunk): Promise<void> {
  way.heard(id, await failureOf(() => onOutput?.(chunk)));
}

async function see(way: Bridge, id: number, { onSnapshot }: BashOptions, snapshot: BashSnapshot): Promise<void> {
  way.seen(id, await failureOf(() => onSnapshot?.(snapshot)));
}

function allocate(way: Bridge, id: number, { spill }: BashOptions, stream: 'stdout' | 'stderr'): void {
  try {
    const place = typeof spill === 'object' ? spill.allocate?.(stream) : null;
    if (!place) way.allocated(id, stream, null, null, 'nothing was allocated');
    else if (typeof place.id === 'string' && typeof place.path === 'string') {
      way.allocated(id, stream, place.id, place.path);
    } else way.allocated(id, stream, null, null, 'allocate gave no id and path');
  } catch (error) {
    way.allocated(id, stream, null, null, messageOf(error));
  }
}
