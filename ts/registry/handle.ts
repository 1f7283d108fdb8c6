import type { NativeRegistry } from '../../native.cjs';
import type { TaskObserver } from '../observe/tasks.ts';
import type { Target } from '../target/types.ts';
import type { RegistryListeners } from './listeners.ts';

/** The parts of a `BackgroundRegistry` that its users do not reach. */
export interface Handle {
  readonly native: NativeRegistry;
  readonly listeners: RegistryListeners;
  /** The target of its tasks. `undefined`: this machine. */
  readonly target: Target | undefined;
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

/** Returns the observer of a registry's tasks, with its events turned on if a channel has subscribers. */
export function tasksOf(registry: unknown): TaskObserver | undefined {
  const listeners = handleOf(registry)?.listeners;
  listeners?.observe();
  return listeners?.observer;
}
