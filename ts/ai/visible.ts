// Control characters but newline and tab, and those that turn or hide what stands beside them: in a command that somebody is to
// judge by looking at it, each of them is shown for what it is.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/g;

/** The text with every character that cannot be seen written out. */
export function visible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
