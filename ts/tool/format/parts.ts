/** Joins the parts of a text with blank lines and leaves out empty parts. */
export function joinParts(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Removes the newline that ends the last line. */
export function withoutLastNewline(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Joins a message and the command to use instead. */
export function withSuggestion(message: string, suggestion: string | undefined): string {
  return suggestion ? `${message}\nInstead: ${suggestion}` : message;
}
