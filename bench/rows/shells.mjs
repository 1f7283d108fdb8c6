// Warm shells, sessions and snapshots, with the pauses in which agents think.
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { milliseconds, ratio } from '../table.mjs';

export const title = 'warm shells and sessions';

/** Kinds of shells with a command and a pause in ms, each against the baseline or another kind. */
const CASES = [
  { name: "warm: bash('true')", way: 'warm', command: 'true', pause: 10, reach: { max: 0.35 } },
  { name: "warm: bash('/bin/echo hi')", way: 'warm', command: '/bin/echo hi', pause: 10, reach: { max: 0.75 } },
  { name: "cold: bash('true')", way: 'cold', command: 'true', pause: 10, reach: null },
  { name: "session.run('true')", way: 'session', command: 'true', pause: 10, reach: { max: 0.5 } },
  { name: "session.run('true') without pauses", way: 'session', command: 'true', pause: 0, reach: { max: 1.5 } },
  {
    name: 'without pauses, warm ÷ cold',
    way: 'warm',
    against: 'cold',
    command: 'true',
    pause: 0,
    reach: { max: 1.03 },
  },
];

export async function measure({ baseline, short }) {
  const rounds = short ? 6 : 20;
  const rows = [];
  for (const { name, way, against = 'baseline', command, pause, reach } of CASES) {
    // Each kind has its own process, so that the warm shells of one do not help another.
    const row = await withHost({}, (host) =>
      withHost({}, async (other) => {
        const count = pause > 0 ? 20 : 40;
        const once = (who) => {
          if (who === 'baseline') return baseline.paced(count, pause, command);
          return (who === way ? host : other).ask('paced', who, count, pause, command);
        };
        for (const who of [against, way]) await once(who);
        const series = await interleave([against, way], rounds, once);
        const p50 = (who) => median(series.get(who).flat());
        const { low, high } = spread(series.get(way).map(median), series.get(against).map(median));
        const note = `${milliseconds(p50(way))} p50 beside ${milliseconds(p50(against))}; rounds ${low.toFixed(2)}–${high.toFixed(2)}`;
        return ratio(against === 'baseline' ? `${name} ÷ baseline` : name, p50(way) / p50(against), { reach, note });
      }),
    );
    rows.push(row);
  }
  return rows;
}
