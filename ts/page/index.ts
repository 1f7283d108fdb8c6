/** The page on which people watch and stop what agents run on this machine. It needs only Node. */
export { startPage } from './start.ts';
export type { Page, PageOptions } from './types.ts';
