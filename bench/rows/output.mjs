// 1 GiB of output, written whole to a file, against a loop that only reads and writes.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OURS } from '../contestants/index.mjs';
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { megabytes, rate, ratio, size, time } from '../table.mjs';
import { writeLog } from './log.mjs';

export const title = 'a flood of output into a file';

const MIB = 2 ** 20;
/**
 * Contestants that return a string get less output and a baseline of their own, because a string of Node holds half a
 * gigabyte.
 */
const STRING_BYTES = 128 * MIB;
/** Read sizes of the baseline: the whole pipe, or a part that stays in the processor's cache. The fastest counts. */
const BASELINES = new Map([MIB, MIB / 4, MIB / 8].map((size) => [`baseline, reads of ${size / 1024} KiB`, size]));

export async function measure({ baseline, short, ours, folder }) {
  const bytes = short ? 128 * MIB : 1024 * MIB;
  const rounds = short ? 3 : 7;
  const place = mkdtempSync(join(folder, 'agent-bash-bench-'));
  try {
    const whole = await contest({ baseline, place, bytes, rounds, way: 'drain', names: [...ours, 'spawn', 'execa'] });
    if (short) return whole;
    const names = ['execFile', 'execa', 'tinyexec', 'nano-spawn'];
    const strings = await contest({ baseline, place, bytes: STRING_BYTES, rounds, way: 'collect', names });
    return [...whole, ...strings];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function contest({ baseline, place, bytes, rounds, way, names }) {
  const input = join(place, `log-${way}`);
  const results = join(place, way);
  writeLog(input, bytes);
  const command = `cat '${input}'`;

  /** Uses a fresh process each time, so that the growth is that of one command. */
  const run = (name, round) =>
    inFolder(results, async (folder) => {
      const file = join(folder, `${name}-${round}`);
      if (BASELINES.has(name)) return { total: await baseline.drain(command, file, BASELINES.get(name)) };
      return withHost({}, async (host) => {
        if (way === 'drain') await host.ask('latency', name, 3);
        return host.ask('output', name, way, command, file);
      });
    });
  const baselines = [...BASELINES.keys()];
  await run(baselines[0], 'warm-up');
  const measured = await interleave([...baselines, ...names], rounds, run);
  rmSync(input);

  const totals = (name) => measured.get(name).map(({ total }) => total);
  const p50 = (name, key) => median(measured.get(name).map((round) => round[key]));
  const best = baselines.reduce((one, other) => (median(totals(other)) < median(totals(one)) ? other : one));
  const base = median(totals(best));
  const label = way === 'drain' ? '' : ' into a string';
  const speed = (ms) => rate(bytes / (ms / 1e3));
  const line = (name) => {
    const paired = spread(totals(best), totals(name));
    const reach = (limit) => (name === OURS ? limit : null);
    const [fastest, own] = [Math.min(...baselines.flatMap(totals)), Math.min(...totals(name))];
    return [
      ratio(`${name}${label}, rate ÷ baseline`, base / median(totals(name)), {
        reach: reach({ min: 0.8 }),
        note: `${speed(median(totals(name)))} of ${megabytes(bytes)}; rounds ${paired.low.toFixed(2)}–${paired.high.toFixed(2)}`,
      }),
      ratio(`${name}${label}, best round ÷ baseline's best`, fastest / own, {
        reach: reach({ min: 0.8 }),
        note: `${speed(own)} against ${speed(fastest)}`,
      }),
      size(`${name}${label}, resident growth`, Math.max(...measured.get(name).map(({ growth }) => growth)), {
        reach: reach({ max: 16e6 }),
        note: 'the highest of all rounds',
      }),
      time(`${name}${label}, event-loop delay p99`, p50(name, 'delayP99'), {
        reach: reach({ max: 5 }),
        note: `longest ${p50(name, 'delayMax').toFixed(1)} ms; timer of 1 ms included`,
      }),
    ];
  };
  const own = baselines.map((name) =>
    ratio(name, base / median(totals(name)), { note: `${speed(median(totals(name)))} of ${megabytes(bytes)}` }),
  );
  return [...own, ...names.flatMap(line)];
}

/** Creates an empty directory for the files of one run, and removes it before the kernel writes the files back. */
async function inFolder(folder, use) {
  try {
    mkdirSync(folder);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
