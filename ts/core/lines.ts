/** Returns the lines of a text, without the newline that ends the last one. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
