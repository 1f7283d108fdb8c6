import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Case {
  /** The file's name without its ending, and the case's own. */
  name: string;
  script: string;
}

const here = fileURLToPath(new URL('cases/', import.meta.url));

/**
 * Returns all cases of `cases/*.sh`. Each starts with a line `### NAME` and ends before the next one, without its last
 * newline.
 */
export function cases(): Case[] {
  return readdirSync(here)
    .filter((file) => file.endsWith('.sh'))
    .sort()
    .flatMap((file) => {
      const [, ...parts] = readFileSync(`${here}/${file}`, 'utf8').split(/^### /m);
      return parts.map((part) => {
        const end = part.indexOf('\n');
        return { name: `${file.slice(0, -3)}: ${part.slice(0, end)}`, script: part.slice(end + 1).replace(/\n$/, '') };
      });
    });
}
