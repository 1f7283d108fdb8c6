/** What a person sees of a run: pure functions that import nothing, for a terminal, a web page and a log alike. */
export { renderHtml } from './html.ts';
export { renderStyles } from './stylesheet.ts';
export { renderText } from './text.ts';
export type { RenderFailure, RenderInput, RenderOptions } from './types.ts';
