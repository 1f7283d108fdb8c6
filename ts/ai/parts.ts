/** Parts of a text stand apart by a blank line; empty ones are left out. */
export function joinParts(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The newline that ends the last line is not a line of its own. */
export function withoutLastNewline(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** A message, and the command to use in place of the one that it is about. */
export function withSuggestion(message: string, suggestion: string | undefined): string {
  return suggestion ? `${message}\nInstead: ${suggestion}` : message;
}
