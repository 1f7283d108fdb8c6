import type { Bridge, ConfineMissing, NativeEvent } from '../../native.cjs';
import { BashError, type BashErrorCode } from '../errors.ts';
import type { Finding } from '../safety/analysis.ts';
import { onAbort } from './abort.ts';
import { loadNative } from './native.ts';

/** The events of one kind. */
export type EventOf<Kind extends NativeEvent['kind']> = Extract<NativeEvent, { kind: Kind }>;
/** The events that settle a call without an error. */
type AnswerKind =
  | 'result'
  | 'task'
  | 'check'
  | 'done'
  | 'warm'
  | 'waited'
  | 'undone'
  | 'undoPoints'
  | 'newestToUndo'
  | 'checks'
  | 'ledger'
  | 'answered'
  | 'connected'
  | 'read'
  | 'told';
/** The events that a registry sends unasked. */
export type TaskEvent = EventOf<'taskExited' | 'taskOutput'>;
/** The event that a target sends unasked. */
export type TargetChange = EventOf<'targetChanged'>;
/** The events that come unasked. With the last one, a pool is asked for reports. */
type UnaskedEvent = TaskEvent | TargetChange | EventOf<'watched'>;
/** The events of a command before the last one. */
export type RunEvent = Exclude<NativeEvent, EventOf<AnswerKind | 'error'> | UnaskedEvent>;

/** A call of the core, which answers with events. */
export interface Call<Kind extends AnswerKind, T> {
  /** Begins the call and returns its number. */
  begin(way: Bridge): number;
  /** The kind of the event that settles the call. */
  kind: Kind;
  /** Takes the result from that event. */
  answer(event: EventOf<Kind>): T;
  /** Takes an event before the last. */
  onEvent?(way: Bridge, id: number, event: RunEvent): void;
  /** `abort` is called if the signal is aborted before the answer arrives. */
  signal?: AbortSignal | undefined;
  abort?(way: Bridge, id: number): void;
  /** The name of the target that is called, for errors. */
  target?: string | undefined;
  /** Whether it does not keep the process alive. */
  isIdle?: boolean;
}

/** Calls that have not settled. */
const pending = new Map<number, (event: Exclude<NativeEvent, UnaskedEvent>) => void>();
/** Calls that keep the process alive. */
const held = new Set<number>();
/** Listeners of registries, targets and pools, which do not keep the process alive. */
const listeners = new Map<number, (event: UnaskedEvent) => void>();
let bridge: Bridge | undefined;

/** The way of this thread to the core. */
export function theBridge(): Bridge {
  bridge ??= new (loadNative().Bridge)(dispatch);
  return bridge;
}

/** Returns whether a call that has not settled keeps the process alive, as calls do by default. */
export function hold(id: number, on: boolean): void {
  if (!pending.has(id) || held.has(id) === on) return;
  const before = held.size;
  if (on) held.add(id);
  else held.delete(id);
  if (before === 0 || held.size === 0) theBridge().hold(on);
}

/**
 * Calls the core and resolves with its answer; an error of the core rejects as a `BashError`, and what `begin` throws
 * rejects, too.
 */
export function settled<Kind extends AnswerKind, T>(call: Call<Kind, T>): Promise<T> {
  // The error arrives in a callback of the addon, whose stack does not lead to the caller.
  const caller: { stack?: string } = {};
  Error.captureStackTrace(caller, settled);
  return new Promise((resolve, reject) => {
    const way = theBridge();
    const id = call.begin(way);
    const { signal } = call;
    const forget = signal && onAbort(signal, () => call.abort?.(way, id));
    const settle = () => {
      forget?.();
      hold(id, false);
      pending.delete(id);
    };
    pending.set(id, (event) => {
      switch (event.kind) {
        case 'error':
          settle();
          reject(errorOf(event, call.target, caller.stack));
          break;
        case 'result':
        case 'task':
        case 'check':
        case 'done':
        case 'warm':
        case 'waited':
        case 'undone':
        case 'undoPoints':
        case 'newestToUndo':
        case 'checks':
        case 'ledger':
        case 'answered':
        case 'connected':
        case 'read':
        case 'told':
          settle();
          resolve(call.answer(event as EventOf<Kind>));
          break;
        default:
          call.onEvent?.(way, id, event);
      }
    });
    if (!call.isIdle) hold(id, true);
  });
}

function errorOf({ error: told }: EventOf<'error'>, target: string | undefined, caller = ''): BashError {
  const { code, message, errno, findings, missing, reason, stderr } = told;
  const error = new BashError(
    code as BashErrorCode,
    message,
    errno,
    findings === undefined ? undefined : (JSON.parse(findings) as Finding[]),
    missing === undefined ? undefined : (JSON.parse(missing) as ConfineMissing[]),
  );
  const name = target ?? told.target;
  if (name !== undefined) Object.assign(error, { target: name });
  if (reason !== undefined) Object.assign(error, { reason });
  if (stderr !== undefined) Object.assign(error, { stderr });
  // The first line names an error that was never thrown.
  error.stack = [`${error.name}: ${message}`, ...caller.split('\n').slice(1)].join('\n');
  return error;
}

/** Sets the listener of a registry, a target or a pool, which sends events of one type; `null` removes it. */
export function listen<Event extends UnaskedEvent>(id: number, listener: ((event: Event) => void) | null): void {
  if (listener) listeners.set(id, listener as (event: UnaskedEvent) => void);
  else listeners.delete(id);
}

function dispatch(id: number, event: NativeEvent): void {
  switch (event.kind) {
    case 'taskExited':
    case 'taskOutput':
    case 'targetChanged':
    case 'watched':
      listeners.get(id)?.(event);
      break;
    default:
      pending.get(id)?.(event);
  }
}
