import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { Way } from './__test__/support/way.ts';
import { repeatedFiles, STRESS, TESTS } from './scripts/suites.mjs';

/** Test files with the package as users get it. */
function project(name: string, include: string[], exclude: string[] = []): TestProjectConfiguration & { test: object } {
  return { extends: true, test: { name, include, exclude: [...configDefaults.exclude, ...exclude] } };
}

/** Test files with `agent-bash` replaced by a module that starts every command in one way. */
function inOneWay(way: Way): TestProjectConfiguration {
  const module = fileURLToPath(new URL(`${TESTS}/support/ways/${way}.mjs`, import.meta.url));
  const { test } = project(way, [...repeatedFiles(way), `${TESTS}/support/ways/*.test.ts`]);
  return {
    extends: true,
    resolve: { alias: [{ find: /^agent-bash$/, replacement: module }] },
    test: { ...test, provide: { way } },
  };
}

/** Test files with commands that are confined unless their call says something else. */
function confined(): TestProjectConfiguration {
  const { test } = project('confined', repeatedFiles('confined'));
  const setupFiles = [fileURLToPath(new URL(`${TESTS}/support/confined/setup.ts`, import.meta.url))];
  return { extends: true, test: { ...test, provide: { confined: true }, setupFiles } };
}

export default defineConfig({
  test: {
    pool: 'forks',
    // Tests wait more than they compute, and must hold on a busy machine.
    maxWorkers: 5,
    // Tests use the package as it is shipped: Node itself loads the built files, and vitest does not transform them.
    server: { deps: { external: [/\/dist\/[^/]+\.[cm]js$/, /\/native\.cjs$/] } },
    // Tools for models would write into the ledger of whoever runs the tests.
    env: { AGENT_BASH_LEDGER: process.env.AGENT_BASH_LEDGER ?? 'off' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // scripts/test.mjs repeats a failed test of the gate, and says so.
    retry: 0,
    sequence: { shuffle: true },
    projects: [
      project('gate', [`${TESTS}/**/*.test.ts`], [`${STRESS}/**`, `${TESTS}/support/**`]),
      project('stress', [`${STRESS}/**/*.test.ts`]),
      inOneWay('cold'),
      inOneWay('warm'),
      inOneWay('session'),
      confined(),
    ],
  },
});
