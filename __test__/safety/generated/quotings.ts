import type { Form } from './forms.ts';

/** A word in single quotes. */
export const single = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** A word in double quotes. */
export const double = (text: string) => `"${text.replace(/[\\"$`]/g, '\\$&')}"`;
const bare = /^[\w@%+=:,./-]+$/;

/** Hex, octal and plain characters by turns, in `$'…'`, with empty quotes between. */
function mixed(word: string): string {
  const parts = [...word].map((char, at) => {
    const code = char.charCodeAt(0);
    switch (at % 4) {
      case 0:
        return `$'\\x${code.toString(16).padStart(2, '0')}'`;
      case 1:
        return `$'\\${code.toString(8).padStart(3, '0')}'`;
      case 2:
        return `""${single(char)}`;
      default:
        return double(char);
    }
  });
  return parts.join('');
}

/** The ways to quote a word. */
export const quotings: Record<string, (word: string) => string> = {
  plain: (word) => (bare.test(word) ? word : single(word)),
  single,
  double,
  backslashes: (word) => {
    const chars = [...word];
    const at = Math.min(1, chars.length - 1);
    return chars.map((char, n) => (n === at || !bare.test(char) ? `\\${char}` : char)).join('');
  },
  mixed,
};

/** The code of a form whose words are quoted in this way. */
export function spelled({ words, script }: Form, quoting: (word: string) => string): string {
  return words ? words.map((word) => (typeof word === 'string' ? quoting(word) : word[0])).join(' ') : (script ?? '');
}
