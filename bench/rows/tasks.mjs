// Background tasks: the cost of a start, of two hundred running tasks, of a loud one, and of the kill of a large one.
import { OURS } from '../contestants/index.mjs';
import { withHost } from '../host/index.mjs';
import { interleave, median, quantile, spread } from '../stats.mjs';
import { milliseconds, number, ratio, size, time } from '../table.mjs';

export const title = 'background tasks';

const RUNNING = 200;
const TREE = 200;
const CAP = 64e6;

export async function measure({ env, short, ours }) {
  if (ours.length === 0) return [];
  return [
    ...(await withHost({}, (host) => start(host, env, short))),
    ...(await withHost({}, (host) => reading(host, short))),
    ...(await withHost({}, (host) => flood(host, short))),
    ...(await withHost({}, (host) => kill(host, short))),
  ];
}

const range = (values) => `p10–p90 ${quantile(values, 0.1).toFixed(2)}–${quantile(values, 0.9).toFixed(2)} ms`;

/** Measures a start up to the returned task, against a whole foreground `true` in the same process. */
async function start(host, env, short) {
  const count = 10;
  const ways = {
    foreground: async () => (await host.ask('latency', OURS, count, env)).total,
    'without a folder': () => host.ask('startTasks', count, false),
    'with a folder': () => host.ask('startTasks', count, true),
  };
  const names = Object.keys(ways);
  for (const name of names) await ways[name]();
  const series = await interleave(names, short ? 8 : 40, (name) => ways[name]());
  const p50 = (name) => median(series.get(name).flat());
  return names.slice(1).map((name) => {
    const paired = spread(series.get(name).map(median), series.get('foreground').map(median));
    return ratio(`start to the returned task, ${name} ÷ foreground \`true\``, p50(name) / p50('foreground'), {
      reach: { max: 1.5 },
      note: `${milliseconds(p50(name))} against ${milliseconds(p50('foreground'))}; rounds ${paired.low.toFixed(2)}–${paired.high.toFixed(2)}`,
    });
  });
}

async function reading(host, short) {
  const lines = [];
  for (const [name, kept] of [
    ['without a folder', false],
    ['with a folder', true],
  ]) {
    const { list, check } = await host.ask('readTasks', RUNNING, short ? 100 : 500, kept);
    lines.push(
      time(`${RUNNING} tasks running, ${name}: list()`, median(list), { reach: { max: 1 }, note: range(list) }),
      time(`${RUNNING} tasks running, ${name}: check() of one`, median(check), {
        reach: { max: 1 },
        note: range(check),
      }),
    );
  }
  return lines;
}

async function flood(host, short) {
  const count = short ? 20 : 60;
  await host.ask('besideFlood', false, 20, CAP);
  await host.ask('besideFlood', true, 5, CAP);
  const series = await interleave(['quiet', 'flood'], short ? 2 : 6, (name) =>
    host.ask('besideFlood', name === 'flood', count, CAP),
  );
  const times = (name) => series.get(name).flatMap((one) => one.times);
  const worst = (key) => Math.max(...series.get('flood').map((one) => one[key]));
  return [
    ratio("p50 of bash('true') beside a background `yes` ÷ without", median(times('flood')) / median(times('quiet')), {
      reach: { max: 1.5 },
      note: `${milliseconds(median(times('flood')))} against ${milliseconds(median(times('quiet')))}; ${range(times('flood'))}`,
    }),
    size('its log, capped at 64 MB', worst('log'), { reach: { max: CAP + 1e3, min: CAP - 1e5 } }),
    size('growth of the host meanwhile, worst round', worst('growth'), { reach: { max: 16e6 } }),
  ];
}

async function kill(host, short) {
  const lines = [];
  for (const [name, stubborn] of [
    ['that ignore SIGTERM: from the SIGKILL', true],
    ['that do not: from the SIGTERM', false],
  ]) {
    const rounds = [];
    for (let n = 0; n < (short ? 2 : 8); n++) rounds.push(await host.ask('killTree', TREE, stubborn));
    const times = rounds.map(({ afterSignal }) => afterSignal);
    lines.push(
      time(`kill of ${TREE} processes ${name}, worst round`, Math.max(...times), {
        reach: { max: 1_000 },
        note: `median ${milliseconds(median(times))}; a third of them in sessions of their own`,
      }),
      number('left of them', Math.max(...rounds.map(({ left }) => left)), { reach: { max: 0 } }),
    );
  }
  return lines;
}
