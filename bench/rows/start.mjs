// One command after another in a small process: the cost of the three processes against a bare posix_spawn.
import { OURS, PEERS } from '../contestants/index.mjs';
import { withHost } from '../host/index.mjs';
import { interleave, median, quantile, spread } from '../stats.mjs';
import { milliseconds, ratio } from '../table.mjs';

export const title = "p50 of bash('true')";

export async function measure({ baseline, env, short, ours }) {
  const rounds = short ? 8 : 30;
  const count = short ? 25 : 40;
  const names = ['baseline', ...ours, ...PEERS];
  return withHost({}, async (host) => {
    const once = (name, times) =>
      name === 'baseline' ? baseline.spawn(times) : host.ask('latency', name, times, env).then(({ total }) => total);
    for (const name of names) await once(name, 20);
    const series = await interleave(names, rounds, (name) => once(name, count));

    const p50 = (name) => median(series.get(name).flat());
    const base = series.get('baseline');
    const rows = names.slice(1).map((name) => {
      const paired = spread(series.get(name).map(median), base.map(median));
      return ratio(`${name} ÷ baseline`, p50(name) / p50('baseline'), {
        reach: name === OURS ? { max: 1.25, aim: 1.15 } : null,
        note: `${milliseconds(p50(name))} p50, ${milliseconds(quantile(series.get(name).flat(), 0.95))} p95; rounds ${paired.low.toFixed(2)}–${paired.high.toFixed(2)}`,
      });
    });
    const note = `posix_spawn of bash -c true: ${milliseconds(p50('baseline'))} p50, ${milliseconds(quantile(base.flat(), 0.95))} p95`;
    return [ratio('baseline', 1, { note }), ...rows];
  });
}
