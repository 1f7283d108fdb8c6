import type { Bridge, NativeEvent } from '../native.cjs';
import { onAbort } from './abort';
import type { Finding } from './analysis';
import { BashError } from './errors';
import { loadNative } from './native';

/** Something that is asked of the core, and answered with events. */
export interface Question<T> {
  /** Asks; gives the number that the events carry. */
  ask(way: Bridge): number;
  /** What the last event brings; `undefined` for one before it. */
  answer(event: NativeEvent): T | undefined;
  /** Hears an event before the last. */
  meanwhile?(way: Bridge, event: NativeEvent): void;
  /** Calls `abort` when it is aborted before the answer is there. */
  signal?: AbortSignal | undefined;
  abort?(way: Bridge, id: number): void;
}

type Listener = (event: NativeEvent) => void;

/** What has not been answered yet. */
const pending = new Map<number, Listener>();
/** What of it the process stays alive for. */
const held = new Set<number>();
/** Who hears of registries; nothing stays alive for them. */
const watchers = new Map<number, Listener>();
let bridge: Bridge | undefined;

/** This thread's way to the core. */
export function theBridge(): Bridge {
  bridge ??= new (loadNative().Bridge)(dispatch);
  return bridge;
}

/** Whether the process stays alive for something that was asked and is not answered yet; it does unless told otherwise. */
export function hold(id: number, on: boolean): void {
  if (!pending.has(id) || held.has(id) === on) return;
  const before = held.size;
  if (on) held.add(id);
  else held.delete(id);
  if (before === 0 || held.size === 0) theBridge().hold(on);
}

/** Asks the core and resolves with its answer; an error of the core rejects as a `BashError`. */
export function settled<T>(question: Question<T>): Promise<T> {
  const way = theBridge();
  return new Promise((resolve, reject) => {
    const id = question.ask(way);
    const { signal } = question;
    const forget = signal && onAbort(signal, () => question.abort?.(way, id));
    const settle = () => {
      forget?.();
      hold(id, false);
      pending.delete(id);
    };
    pending.set(id, (event) => {
      if (event.error) {
        settle();
        const { code, message, errno, findings } = event.error;
        reject(
          new BashError(code, message, errno, findings === undefined ? undefined : (JSON.parse(findings) as Finding[])),
        );
        return;
      }
      const answer = question.answer(event);
      if (answer === undefined) {
        question.meanwhile?.(way, event);
        return;
      }
      settle();
      resolve(answer);
    });
    hold(id, true);
  });
}

/** Hears what a registry tells unasked; `null` ends that. */
export function watchRegistry(id: number, listener: Listener | null): void {
  if (listener) watchers.set(id, listener);
  else watchers.delete(id);
}

function dispatch(event: NativeEvent): void {
  (pending.get(event.id) ?? watchers.get(event.id))?.(event);
}
