// The first command of a world beside the later ones: with a world that was begun, with a blank one, and without.
import { withHost } from '../host/index.mjs';
import { interleave, median, quantile } from '../stats.mjs';
import { milliseconds, time } from '../table.mjs';

export const title = 'first commands of worlds';

/** The owners that are measured: how their sessions are made, and how much more the first command may take. */
const CASES = [
  { name: '100 ms after its owner', confine: 'workspace', wait: 100, reach: { max: 2 } },
  { name: 'with a blank world', confine: 'workspace', wait: 0, reach: { max: 5 } },
  { name: 'without one', confine: 'workspace', wait: 0, isFresh: true, reach: { max: 8 } },
  { name: 'in a session without confinement', confine: null, wait: 0, reach: null },
];

/** Later commands that are measured after each first one. */
const LATER = 5;

/** Measures one case in a host of its own, whose supervisor is running. */
async function measureCase({ confine, wait, isFresh }, count) {
  // A host keeps a blank world after its first confined command, so a host without one is new.
  if (!isFresh) return withHost({}, (host) => host.ask('firstAndLater', { count, confine, wait, later: LATER }));
  const all = [];
  for (let n = 0; n < count; n++) {
    all.push(...(await withHost({}, (host) => host.ask('firstAndLater', { count: 1, confine, wait, later: LATER }))));
  }
  return all;
}

export async function measure({ short }) {
  const [rounds, count] = short ? [2, 5] : [6, 10];
  const names = CASES.map(({ name }) => name);
  const series = await interleave(names, rounds, (name) => {
    return measureCase(
      CASES.find((one) => one.name === name),
      count,
    );
  });
  return CASES.map(({ name, reach }) => {
    const all = series.get(name).flat();
    const first = all.map((one) => one.first);
    const later = all.flatMap((one) => one.later);
    const least = quantile(first, 0) - quantile(later, 0);
    const note =
      `${milliseconds(median(first))} p50 beside ${milliseconds(median(later))}; ` +
      `of the fastest ${milliseconds(least)} more`;
    return time(`first command, more: ${name}`, median(first) - median(later), { reach, note });
  });
}
