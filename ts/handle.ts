import type { NativeRegistry } from '../native.cjs';

/** The core's part of a `BackgroundRegistry`, out of reach of those who hold one. */
export interface Handle {
  readonly native: NativeRegistry;
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
