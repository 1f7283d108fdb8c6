import { inject, test } from 'vitest';

/** The way the commands of a test are run: by a cold shell, by a warm one, or in a session. */
export type Way = 'cold' | 'warm' | 'session';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Set by the projects of vitest.config.ts that run tests in one way. In the others the package is the one that
     * users get.
     */
    way: Way;
  }
}

/** The way of this project, or `undefined` with the package that users get. */
export const way: Way | undefined = inject('way');

/** A test that makes no sense in some ways and is skipped there. The reason is for readers. */
export function testBut(ways: Way[], _because: string) {
  return test.skipIf(way !== undefined && ways.includes(way));
}

/**
 * The replacement of `agent-bash` for that way: a module that Node can load directly, since other test processes do.
 */
export function moduleOf(one: Way): string {
  return new URL(`ways/${one}.mjs`, import.meta.url).href;
}
