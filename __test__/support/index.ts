import { vi } from 'vitest';
import { WAIT } from './until.ts';

// Generous bounds against a hang: a busy machine is slow.
vi.setConfig({ testTimeout: 4.5 * WAIT, hookTimeout: 4.5 * WAIT });

export * from './capability.ts';
export * from './confined/index.ts';
export * from './daemons.ts';
export * from './environment.ts';
export * from './finished.ts';
export * from './folder.ts';
export * from './host.ts';
export * from './ports.ts';
export * from './processes.ts';
export * from './program.ts';
export * from './rejection.ts';
export * from './target.ts';
export * from './text.ts';
export * from './until.ts';
export * from './way.ts';
