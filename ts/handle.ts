import type { NativeRegistry } from '../native.cjs';
import type { TaskObserver } from './observe/tasks';
import type { RegistryListeners } from './registry-listeners';

/** The core's part of a `BackgroundRegistry`, out of reach of those who hold one. */
export interface Handle {
  readonly native: NativeRegistry;
  readonly listeners: RegistryListeners;
  closed: boolean;
}

const handles = new WeakMap<object, Handle>();

export function keepHandle(registry: object, handle: Handle): void {
  handles.set(registry, handle);
}

/** The handle of a registry; `undefined` for everything that is none. */
export function handleOf(registry: unknown): Handle | undefined {
  return typeof registry === 'object' && registry !== null ? handles.get(registry) : undefined;
}

/** Who tells of the tasks of a registry, where somebody listens to the channels. */
export function tasksOf(registry: unknown): TaskObserver | undefined {
  const listeners = handleOf(registry)?.listeners;
  listeners?.observe();
  return listeners?.observer;
}
