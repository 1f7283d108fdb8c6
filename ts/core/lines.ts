/** Returns the lines of a text, without the newline that ends the last one. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Returns a text without line breaks. */
export const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
