import type { BashResult } from 'agent-bash';
import { visible } from '../core/visible.ts';
import { grouped } from './words.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/** Returns the denials of a confinement and the parts that it could not hold, one line each. The text is untrusted. */
export function denials({ denied, deniedTotal, missing = [] }: Confinement): string[] {
  const listed = denied.reduce((sum, { count }) => sum + count, 0);
  const left = (deniedTotal ?? listed) - listed;
  return [
    ...denied.map(({ kind, target, program, count }) => {
      const by = program === '' ? '' : ` (${program})`;
      return visible(`denied: ${kind} ${target}${by}${count > 1 ? `, ${grouped(count)} times` : ''}`);
    }),
    ...(left > 0 ? [`denied: ${grouped(left)} more`] : []),
    ...missing.map(({ part, why }) => visible(`not confined: ${part}: ${why}`)),
  ];
}
