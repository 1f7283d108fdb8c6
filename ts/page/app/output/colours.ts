import { hexOf } from '../../../render/palette.ts';

/**
 * Adds the 256 colours of output to the page. On a light page a colour is dark enough to be read, and on a dark one it
 * is light enough, unless the command has chosen the background, too.
 */
export function addColours(): void {
  const rules = ['.s-fg-page{color:var(--page)}', '.s-bg-text{background:var(--text)}'];
  for (let index = 0; index < 256; index++) {
    const colour = hexOf(index);
    const shade = (bound: string) => `oklch(from ${colour} ${bound} c h)`;
    rules.push(
      `.s-fg-${index}{color:light-dark(${shade('min(l,.52)')},${shade('max(l,.72)')})}`,
      `.s-fg-${index}[class*=s-bg-]{color:${colour}}`,
      `.s-bg-${index}{background:${colour}}`,
    );
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join('\n'));
  document.adoptedStyleSheets.push(sheet);
}
