// Ordinary work, as it is, confined, with undo, with both, and in a draft: how much of all this does a person notice?
import { rmSync } from 'node:fs';
import { withHost } from '../host/index.mjs';
import { KINDS_OF_WORK, WAYS_OF_WORK } from '../host/work.mjs';
import { rotate } from '../stats.mjs';
import { milliseconds, number, ratio } from '../table.mjs';

export const title = 'ordinary work';

/** The targets beside plain work. */
const MOST = { confine: 1.2, undo: 2, both: 2, draft: 1.2 };

/** Does the work of one kind `rounds` times in each way. Returns the times of each way. */
async function timesOf(kind, rounds, place) {
  const times = new Map(WAYS_OF_WORK.map((way) => [way, []]));
  for (let round = 0; round < rounds; round++) {
    const ways = rotate(WAYS_OF_WORK, round);
    // A new host for each round: some costs depend on the processors that its helpers got.
    const measured = await withHost({}, (host) => host.ask('workOnce', ways, kind, place));
    for (const [at, way] of ways.entries()) times.get(way).push(measured[at]);
  }
  return times;
}

/** The lines of a kind: the least time of each way beside that of the plain work. */
async function measureKind(kind, rounds, folder) {
  let place;
  try {
    place = await withHost({}, (host) => host.ask('prepareWork', kind, folder));
  } catch (error) {
    const why = error.message.split('\n').find(Boolean);
    return [number(kind, 0, { note: `not measured: ${why}` })];
  }
  try {
    const times = await timesOf(kind, rounds, place);
    const least = (way) => Math.min(...times.get(way));
    return WAYS_OF_WORK.filter((way) => way in MOST).map((way) => {
      const note = `${milliseconds(least(way))} beside ${milliseconds(least('plain'))}`;
      return ratio(`${kind}: ${way} ÷ plain`, least(way) / least('plain'), { reach: { max: MOST[way] }, note });
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const lines = [];
  for (const kind of KINDS_OF_WORK) lines.push(await measureKind(kind, short ? 2 : 8, folder));
  return lines.flat();
}
