import { vi } from 'vitest';

// Generous bounds against a hang: a busy machine is slow.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

export * from './capability.ts';
export * from './confined/index.ts';
export * from './daemons.ts';
export * from './environment.ts';
export * from './finished.ts';
export * from './folder.ts';
export * from './host.ts';
export * from './processes.ts';
export * from './program.ts';
export * from './rejection.ts';
export * from './target.ts';
export * from './text.ts';
export * from './until.ts';
export * from './way.ts';
