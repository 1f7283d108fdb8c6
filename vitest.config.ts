import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { Way } from './__test__/support/way.ts';

const modules = (way: Way) => fileURLToPath(new URL(`__test__/support/ways/${way}.mjs`, import.meta.url));

/** The core once more, with `agent-bash` replaced so that every command runs in one way. */
function inOneWay(way: Way, without: string[] = []): TestProjectConfiguration {
  const core = ['behaviour', 'run', 'capture', 'supervise', 'plan'];
  return {
    extends: true,
    resolve: { alias: [{ find: /^agent-bash$/, replacement: modules(way) }] },
    test: {
      name: way,
      include: [...core.map((folder) => `__test__/${folder}/**/*.test.ts`), '__test__/support/ways/*.test.ts'],
      exclude: [...configDefaults.exclude, ...without.map((file) => `__test__/${file}.test.ts`)],
      provide: { way },
    },
  };
}

export default defineConfig({
  test: {
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
    projects: [
      // Everything, with the package as users get it.
      {
        extends: true,
        test: {
          name: 'all',
          include: ['__test__/**/*.test.ts'],
          exclude: [...configDefaults.exclude, '__test__/support/ways/**'],
        },
      },
      // Left out is what takes long and is not another way's own: a cold start is also what all else begins with.
      inOneWay('cold', [
        'capture/*',
        'behaviour/bounded',
        'supervise/resources',
        'supervise/limits',
        'supervise/helpers',
      ]),
      inOneWay('warm', ['capture/split']),
      inOneWay('session', ['capture/split', 'capture/truncate']),
    ],
  },
});
