import type { BashResult, BashSnapshot, Bridge, NativeEvent, OutputChunk } from '../native.cjs';
import { onAbort } from './abort';
import { BashError } from './errors';
import { loadNative } from './native';
import { checkOptions } from './options';
import { toNative } from './request';
import type { BashOptions } from './types';

/** A command that has not ended yet, as this thread sees it. */
interface Pending {
  options: BashOptions;
  settle(): void;
  resolve(result: BashResult): void;
  reject(error: unknown): void;
}

const running = new Map<number, Pending>();
let bridge: Bridge | undefined;

/** Runs a command; see `bash` of the main entry. Never throws synchronously: it is asynchronous as a whole. */
export async function run(command: string, options: BashOptions = {}): Promise<BashResult> {
  checkOptions(command, options);
  const request = toNative(command, options);
  bridge ??= new (loadNative().Bridge)(dispatch);
  const way = bridge;
  return new Promise((resolve, reject) => {
    if (running.size === 0) way.hold(true);
    const id = way.start(...request);
    const forget = options.signal && onAbort(options.signal, () => way.abort(id));
    const settle = () => {
      forget?.();
      running.delete(id);
      if (running.size === 0) way.hold(false);
    };
    running.set(id, { options, settle, resolve, reject });
  });
}

function dispatch(event: NativeEvent): void {
  const { id } = event;
  const pending = running.get(id);
  if (!pending || !bridge) return;
  if (event.result) {
    pending.settle();
    pending.resolve(event.result);
  } else if (event.error) {
    pending.settle();
    pending.reject(new BashError(event.error.code, event.error.message, event.error.errno));
  } else if (event.output) {
    void hear(bridge, id, pending, event.output);
  } else if (event.snapshot) {
    void see(bridge, id, pending, event.snapshot);
  } else if (event.allocate) {
    allocate(bridge, id, pending, event.allocate);
  }
}

async function hear(way: Bridge, id: number, pending: Pending, chunk: OutputChunk): Promise<void> {
  way.heard(id, await failureOf(() => pending.options.onOutput?.(chunk)));
}

async function see(way: Bridge, id: number, pending: Pending, snapshot: BashSnapshot): Promise<void> {
  way.seen(id, await failureOf(() => pending.options.onSnapshot?.(snapshot)));
}

function allocate(way: Bridge, id: number, pending: Pending, stream: 'stdout' | 'stderr'): void {
  const { spill } = pending.options;
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

async function failureOf(call: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error that cannot be shown';
  }
}
