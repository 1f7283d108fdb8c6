import type { BashResult, Denial } from 'agent-bash';
import { denialInWords } from '../tool/parts.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/** Returns one line for each part that a confinement denied or could not hold, with the option that would allow it. */
export function denials({ denied, deniedTotal, missing }: Confinement): string[] {
  const left = deniedTotal - denied.reduce((sum, { count }) => sum + count, 0);
  return [
    ...denied.map((one) => `confined: ${denialInWords(one)}${flags(one)}`),
    ...(left > 0 ? [`confined: ${left} more denied`] : []),
    ...missing.map(({ part, why, remedy }) => `not confined: ${part}: ${why} (${remedy})`),
  ];
}

function flags({ grant }: Denial): string {
  const words = [
    ...(grant?.write ?? []).map((path) => `--write ${path}`),
    ...(grant?.network?.allow ?? []).map((entry) => `--allow-host ${entry}`),
  ];
  return words.length === 0 ? '; no flag would allow it' : `; ${words.join(' ')} would allow it`;
}
