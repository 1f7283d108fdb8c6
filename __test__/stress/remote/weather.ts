import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../receipt/generated.ts';
import { state } from '../../support/index.ts';
import type { Fault, FaultKind, Relayed } from '../../support/relay.ts';

/** Silence in ms that counts as a cut. */
export const ALIVE = 1_500;

/** Bytes of the opening of a connection, in each direction, and some more. */
const [UP, DOWN] = [150, 1_400];

/** What goes wrong, as often as it is listed. `short`: a freeze that is no cut. */
const KINDS = [
  ...['cut', 'cut', 'cut', 'kill', 'kill', 'kill', 'hold', 'hold', 'freeze', 'short'],
  ...['short', 'trickle', 'trickle', 'trickle', 'half-up', 'half-down'],
] as const;
type Kind = FaultKind | 'short';

/** How often each kind has happened in each phase. */
export type Counts = Record<string, Record<string, number>>;

/** Makes `faults` things go wrong at random moments of all phases. Ends early when `over` says so. */
export async function weather(
  { relay, target }: Relayed,
  seed: number,
  faults: number,
  over: () => boolean,
): Promise<Counts> {
  const random = randomFrom(seed);
  const counts: Counts = {};
  let left = faults;

  const fault = (kind: Kind): Fault => {
    const lane = random(2) === 0 ? 'up' : 'down';
    const ms = { freeze: ALIVE * 1.3 + random(2_500), short: 100 + random(ALIVE / 2), trickle: 300 + random(1_000) };
    if (kind === 'short') return { kind: 'freeze', ms: ms.short, lane };
    return { kind, lane, ms: kind === 'freeze' || kind === 'trickle' ? ms[kind] : 0 };
  };
  const fail = async (kind: Kind, moment: Partial<Fault>) => {
    const phase = await relay.fail({ ...fault(kind), ...moment });
    if (phase === null) return;
    left--;
    counts[kind] ??= {};
    counts[kind][phase] = (counts[kind][phase] ?? 0) + 1;
  };
  const kind = () => KINDS[random(KINDS.length)] as Kind;

  while (left > 0 && !over()) {
    // Some go wrong again while they connect: few, since a freeze there takes its time.
    const next = random(3) === 0 ? 1 + random(3) : 0;
    const later = Array.from({ length: next }, () => {
      const [lane, most] = random(3) === 0 ? (['up', UP] as const) : (['down', DOWN] as const);
      return fail(kind(), { next: true, lane, after: random(most), within: 3_000 });
    });
    if (next > 0) await fail(random(2) === 0 ? 'cut' : 'kill', {});
    else await fail(kind(), { after: random(3) * random(30_000), within: random(800) });
    const fired = Promise.all(later);
    await Promise.race([fired, state(target, 'connected', 60_000).then(() => sleep(1_000))]);
    // No further connection came for them.
    await relay.calm();
    await fired;
    await sleep(random(1_200));
    if (random(4) > 0) await state(target, 'connected', 60_000);
  }
  return counts;
}

/** The counts as a line for each kind. */
export function table(counts: Counts): string {
  const lines = Object.entries(counts).map(([kind, phases]) => {
    const all = Object.values(phases).reduce((sum, count) => sum + count, 0);
    const parts = Object.entries(phases).map(([phase, count]) => `${phase} ${count}`);
    return `${kind.padEnd(9)} ${`${all}`.padStart(3)}: ${parts.toSorted().join(', ')}`;
  });
  return lines.toSorted().join('\n');
}
