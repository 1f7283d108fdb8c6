import { inject, test } from 'vitest';

/** How the commands of a test are run: each by a shell of its own start, by one that waited, or each in a session. */
export type Way = 'cold' | 'warm' | 'session';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by the projects of vitest.config.ts that run tests in one way; in the others the package is what users get. */
    way: Way;
  }
}

/** The way of this project, or `undefined` where the package is as users get it. */
export const way: Way | undefined = inject('way');

/** A test that makes no sense in some ways of running, and is skipped there: the reason is for who reads it. */
export function testBut(ways: Way[], _because: string) {
  return test.skipIf(way !== undefined && ways.includes(way));
}

/** What `agent-bash` stands for in that way: a module that Node can load as it is, since other processes of the tests do. */
export function moduleOf(one: Way): string {
  return new URL(`ways/${one}.mjs`, import.meta.url).href;
}
