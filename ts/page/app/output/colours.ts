import { hexOf } from '../../../render/palette.ts';

/**
 * Adds the text colours 16 to 255 and all background colours of output to the page. The style sheet has the other text
 * colours. A text colour is darkened on a light page and lightened on a dark one until it is readable, unless the
 * command has also chosen the background.
 */
export function addColours(): void {
  const rules: string[] = [];
  for (let index = 0; index < 256; index++) {
    const colour = hexOf(index);
    const shade = (bound: string) => `oklch(from ${colour} ${bound} c h)`;
    if (index > 15) rules.push(`.s-fg-${index}{color:light-dark(${shade('min(l,.5)')},${shade('max(l,.76)')})}`);
    if (index > 15) rules.push(`.screen .s-fg-${index}{color:${shade('max(l,.7)')}}`);
    rules.push(`.s-bg-${index}{background:${colour}}`, `.s-fg-${index}[class*=s-bg-]{color:${colour}}`);
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join('\n'));
  document.adoptedStyleSheets.push(sheet);
}
