/** Returns JSON that the addon can read. It has no numbers that JSON lacks, and no halves of characters. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, finite);
  // Of a half of a character, `JSON.stringify` writes the escape.
  return text.includes('\\ud') ? JSON.stringify(value, wellFormed) : text;
}

function finite(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function wellFormed(name: string, value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value).toString() : finite(name, value);
}
