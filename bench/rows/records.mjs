// The price of a record: the time that it adds, beside the time that a listener adds which lets every call go on.
import { withHost } from '../host/index.mjs';
import { interleave } from '../stats.mjs';
import { milliseconds, ratio } from '../table.mjs';

export const title = 'price of records';

/** The prices that are asked for: what the command does, in which way, and the target. */
const PRICES = [
  ['make', 'exact', 1.7],
  ['make', 'undo', 1.7],
  ['remove what was there', 'undo', 2.1],
  ['remove what it made', 'undo', 1.9],
];

/** The times beside nothing recorded, with the targets on a disk. On tmpfs they are 2, 3.4 and 5. */
const FACTORS = [
  ['cp -r', 'undo', 1.5],
  ['rm -rf', 'undo', 2.1],
  ['tar x', 'undo', 2.8],
];

/** Runs an act in each way in turn. Returns the least time of each, since everything else of the machine adds to it. */
async function timesOf(host, act, ways, { rounds, files, folder }) {
  const series = await interleave(ways, rounds, (way) => host.ask('pricedChange', way, act, files, folder));
  return ways.map((way) => Math.min(...series.get(way)));
}

export function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const size = { rounds: short ? 3 : 7, files: short ? 5_000 : 20_000, folder };
  return withHost({}, async (host) => {
    const lines = [];
    for (const [act, way, max] of PRICES) {
      const [off, floor, on] = await timesOf(host, act, ['off', 'floor', way], size);
      const note = `${milliseconds(on)}, floor ${milliseconds(floor)}, nothing ${milliseconds(off)}`;
      lines.push(ratio(`${act}: ${way}, price`, (on - off) / (floor - off), { reach: { max }, note }));
    }
    for (const [act, way, max] of FACTORS) {
      const [off, on] = await timesOf(host, act, ['off', way], size);
      const note = `${milliseconds(on)} beside ${milliseconds(off)}`;
      lines.push(ratio(`${act}: ${way} ÷ off`, on / off, { reach: { max }, note }));
    }
    return lines;
  });
}
