import type { BackgroundTask, NativeRegistry } from '../../native.cjs';
import type { Fleet } from '../fleet/types.ts';
import type { TaskObserver } from '../observe/tasks.ts';
import type { Target } from '../target/types.ts';
import type { RegistryListeners } from './listeners.ts';

/** The parts of a `BackgroundRegistry` that its users do not reach. */
export interface Handle {
  /** The registry where its tasks are. `null`: the pool of its option `target` has given it no place yet. */
  readonly native: NativeRegistry | null;
  readonly listeners: RegistryListeners;
  /** The target of its tasks, or the pool that chooses it. `undefined`: this machine. */
  readonly target: Target | Fleet | undefined;
  /** What its calls have in common for a pool. `undefined`: it is on no pool. */
  readonly affinity: unknown;
  /** Goes to this target of the pool, if it is not there. */
  bind(target: Target): void;
  closed: boolean;
}

const handles = new WeakMap<object, Handle>();

export function keepHandle(registry: object, handle: Handle): void {
  handles.set(registry, handle);
}

/** Returns the handle of a registry; `undefined` for any other value. */
export function handleOf(registry: unknown): Handle | undefined {
  return typeof registry === 'object' && registry !== null ? handles.get(registry) : undefined;
}

/** Resolves when a task of a registry has ended. */
export async function exitOf(registry: unknown, { id }: BackgroundTask): Promise<void> {
  await handleOf(registry)?.listeners.exitOf(id);
}

/** Returns the observer of a registry's tasks, with its events turned on if a channel has subscribers. */
export function tasksOf(registry: unknown): TaskObserver | undefined {
  const listeners = handleOf(registry)?.listeners;
  listeners?.observe();
  return listeners?.observer;
}
