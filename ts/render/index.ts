/** Pure functions that render a run for people, in a terminal, a web page or a log. They import nothing. */
export { renderHtml } from './html.ts';
export { renderStyles } from './stylesheet.ts';
export { renderText } from './text.ts';
export type { RenderFailure, RenderInput, RenderOptions } from './types.ts';
