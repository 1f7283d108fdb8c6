/** The page on which people watch what agents run on this machine, and stop it. It needs Node and nothing else. */
export { startPage } from './start.ts';
export type { Page, PageOptions } from './types.ts';
