import type { BashResult, Denial } from 'agent-bash';
import { denialInWords } from '../tool/parts.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/**
 * Returns one line for each part that a confinement denied or could not hold, with the option that would allow it. A
 * draft allows hosts alone, when it is opened.
 */
export function denials({ denied, deniedTotal, missing }: Confinement, inDraft = false): string[] {
  const left = deniedTotal - denied.reduce((sum, { count }) => sum + count, 0);
  return [
    ...denied.map((one) => `confined: ${denialInWords(one)}${flags(one, inDraft)}`),
    ...(left > 0 ? [`confined: ${left} more denied`] : []),
    ...missing.map(({ part, why, remedy }) => `not confined: ${part}: ${why} (${remedy})`),
  ];
}

function flags({ grant }: Denial, inDraft: boolean): string {
  const words = [
    ...(inDraft ? [] : (grant?.write ?? [])).map((path) => `--write ${path}`),
    ...(grant?.network?.allow ?? []).map((entry) => `${inDraft ? '--network' : '--allow-host'} ${entry}`),
  ];
  if (words.length === 0) return '; no flag would allow it';
  return `; ${words.join(' ')} would allow it${inDraft ? ' in a new draft' : ''}`;
}
