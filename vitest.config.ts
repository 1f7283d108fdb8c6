import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { Way } from './__test__/support/way.ts';
import { CORE, FIRST, globOf, SECOND, UNCONFINED, WAYS } from './scripts/tiers.mjs';

/** Test files with the package as users get it. */
function project(name: string, include: string[], exclude: string[] = []): TestProjectConfiguration {
  return {
    extends: true,
    test: { name, include: include.map(globOf), exclude: [...configDefaults.exclude, ...exclude.map(globOf)] },
  };
}

/** The core with `agent-bash` replaced by a module that starts every command in one way. */
function inOneWay(way: Way): TestProjectConfiguration {
  const module = fileURLToPath(new URL(`__test__/support/ways/${way}.mjs`, import.meta.url));
  const { test } = project(way, [...CORE, 'support/ways/*'], [...SECOND, ...WAYS[way]]) as { test: object };
  return {
    extends: true,
    resolve: { alias: [{ find: /^agent-bash$/, replacement: module }] },
    test: { ...test, provide: { way } },
  };
}

/** All suites with commands that are confined unless their call says something else. */
function confined(): TestProjectConfiguration {
  const { test } = project('confined', [...CORE, ...FIRST, ...SECOND], Object.values(UNCONFINED).flat()) as {
    test: object;
  };
  const setupFiles = [fileURLToPath(new URL('__test__/support/confined/setup.ts', import.meta.url))];
  return { extends: true, test: { ...test, env: { AGENT_BASH_CONFINE: 'workspace' }, setupFiles } };
}

export default defineConfig({
  test: {
    pool: 'forks',
    // Tests wait more than they compute, and must hold on a busy machine.
    maxWorkers: 3,
    // Tests use the package as it is shipped: Node itself loads the built files, and vitest does not transform them.
    server: { deps: { external: [/\/dist\/[^/]+\.[cm]js$/, /\/native\.cjs$/] } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // A test that passes only when it is repeated has found a bug.
    retry: 0,
    sequence: { shuffle: true },
    projects: [
      project('core', CORE, SECOND),
      project('first', FIRST, SECOND),
      project('second', SECOND),
      inOneWay('cold'),
      inOneWay('warm'),
      inOneWay('session'),
      confined(),
    ],
  },
});
