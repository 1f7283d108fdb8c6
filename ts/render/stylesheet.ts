import { TOKEN_COLOURS } from '../core/token-colours.ts';
import { CLASS } from './html.ts';
import { hexOf } from './palette.ts';

/**
 * Returns a style sheet for the output of `renderHtml`, some 20 KB: dark, with all colours, and without effect on the
 * rest of the page. Use it unchanged, or write another for the same classes. The block's own colours are
 * `--agent-bash-page` and `--agent-bash-text`.
 */
export function renderStyles(): string {
  const rules: [string, string][] = [
    [
      '',
      `--${CLASS}-page:#1e1e1e;--${CLASS}-text:#d4d4d4;margin:0;padding:.75em 1em;color:var(--${CLASS}-text);background:var(--${CLASS}-page);` +
        'font-family:ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;border-inline-start:3px solid transparent',
    ],
    // Text from right to left in one line must not affect another.
    ['>span', 'unicode-bidi:isolate'],
    ['-good', `border-color:${hexOf(2)}`],
    ['-bad', `border-color:${hexOf(1)}`],
    ['-open', `border-color:${hexOf(3)}`],
    ['-command', 'font-weight:bold'],
    ...['cwd', 'more', 'label', 'cut', 'elided', 'log', 'changed', 'tests'].map((kind): [string, string] => [
      `-${kind}`,
      'opacity:.65',
    ]),
    ...['survivor', 'denied', 'note', 'hidden'].map((kind): [string, string] => [`-${kind}`, `color:${hexOf(3)}`]),
    [`-good>.${CLASS}-status`, `color:${hexOf(2)}`],
    [`-bad>.${CLASS}-status`, `color:${hexOf(9)}`],
    [`-open>.${CLASS}-status`, `color:${hexOf(3)}`],
    ...Object.entries(TOKEN_COLOURS).map(([token, colour]): [string, string] => [
      `-token-${token}`,
      `color:${hexOf(colour)}`,
    ]),
    ['-bold', 'font-weight:bold'],
    ['-dim', 'opacity:.65'],
    ['-italic', 'font-style:italic'],
    ['-underline', 'text-decoration:underline'],
    ['-strike', 'text-decoration:line-through'],
    [`-underline.${CLASS}-strike`, 'text-decoration:underline line-through'],
    ['-fg-page', `color:var(--${CLASS}-page)`],
    ['-bg-text', `background:var(--${CLASS}-text)`],
  ];
  for (let index = 0; index < 256; index++) {
    rules.push([`-fg-${index}`, `color:${hexOf(index)}`], [`-bg-${index}`, `background:${hexOf(index)}`]);
  }
  return rules.map(([selector, style]) => `.${CLASS}${selector}{${style}}\n`).join('');
}
