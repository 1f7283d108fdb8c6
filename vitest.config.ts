import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['__test__/**/*.test.ts'],
    pool: 'forks',
    // Tests wait more than they work; and what holds only on an idle machine does not hold.
    maxWorkers: 3,
    // The package is tested as it is shipped: what is built is loaded by Node itself, never transformed.
    server: { deps: { external: [/\/dist\/[^/]+\.[cm]js$/, /\/native\.cjs$/] } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // A test that passes at the second try has found a bug.
    retry: 0,
    sequence: { shuffle: true },
  },
});
