import { hexOf } from '../../../render/palette.ts';

/**
 * Adds the colours 16 … 255 of output to the page; the first 16 are in the style sheet. On a light page a colour is
 * dark enough to be read, and on a dark one it is light enough, unless the command has chosen the background, too.
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
