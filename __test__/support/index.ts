import { vi } from 'vitest';

// A loaded machine is slow; these bounds are against hangs only.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** A bound in ms, against a hang, on what is to happen at once. */
export const AT_ONCE = 6_000;

export * from './capability.ts';
export * from './environment.ts';
export * from './folder.ts';
export * from './host.ts';
export * from './processes.ts';
export * from './program.ts';
export * from './rejection.ts';
export * from './text.ts';
export * from './until.ts';
export * from './way.ts';
