import type { BashResult } from 'agent-bash';
import { type Check, fine, missing } from './check.ts';
import { isGvisor } from './core.ts';
import { CAUSES } from './fix/causes.ts';
import { factsOf } from './fix/facts.ts';
import type { Way } from './fix/types.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/** What each way of confinement holds, and what it costs in comparison to the best one of the system. */
const WAYS: Record<Way, { found: string; cost?: string }> = {
  namespaces: { found: 'namespaces' },
  seatbelt: { found: 'the sandbox of macOS' },
  listener: {
    found: 'a listener, without namespaces',
    cost: 'opens, creations and connections take longer, and some things differ',
  },
  landlock: { found: 'Landlock alone', cost: 'it only bounds changes of files, so confine is refused by default' },
  filter: { found: 'a filter of system calls alone', cost: 'it holds no files, so confine is refused by default' },
  none: { found: 'nothing', cost: 'confine is refused' },
};

/** Returns what holds the parts of a confinement, as words. */
export function wayIn(way: Way): string {
  return WAYS[way].found;
}

/** Returns whether no other way holds more, or is faster. */
export function isBest(way: Way): boolean {
  return WAYS[way].cost === undefined;
}

/** Checks what holds the parts of a confinement, and says what a better way needs. */
export function wayOf({ way, missing: without }: Confinement): Check {
  const name = 'confine-way';
  const { found, cost } = WAYS[way];
  if (cost === undefined) return fine(name, found);
  const facts = factsOf({ way, hosts: true, remedy: without[0]?.remedy ?? null, gvisor: isGvisor() });
  const remedy = facts.off ? 'AGENT_BASH_NAMESPACES=off turns namespaces off: unset that variable' : facts.remedy;
  const causes = CAUSES.filter((cause) => cause.isAt(facts));
  const plans = causes.map(({ why }) => `${why}: agent-bash doctor --fix`);
  const [first = remedy ?? 'namespaces need Linux 5.12 or later, which permits user namespaces'] = plans;
  return missing(name, found, `${cost}; ${[first, ...plans.slice(1)].join('; ')}`);
}

/** Checks the same on a target, whose causes `doctor --fix` finds there. */
export function wayThere({ way, missing: without }: Confinement): Check {
  const { found, cost } = WAYS[way];
  if (cost === undefined) return fine('confine-way', found);
  const [first] = without;
  const remedy = first ? `${first.remedy}; ` : '';
  return missing('confine-way', found, `${cost}; ${remedy}agent-bash doctor --fix on that machine plans a remedy`);
}
