import type { Plugin } from 'rolldown';

/** The files of the browser app of the page, minified. */
export function pageApp(): Promise<{ script: string; style: string }>;
export function pageAppPlugin(): Plugin;
