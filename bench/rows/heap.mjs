// The same in a process of 2 GB. fork copies page tables, so a fork from Node takes longer with a large heap, and
// blocks the event loop meanwhile.
import { OURS, PEERS } from '../contestants/index.mjs';
import { withHost } from '../host/index.mjs';
import { interleave, median } from '../stats.mjs';
import { megabytes, milliseconds, ratio, time } from '../table.mjs';

export const title = 'with 2 GB resident';

const BALLAST = 2e9;

export async function measure({ env, short, ours }) {
  return withHost({}, (small) => withHost({}, (large) => compare(small, large, { env, short, ours })));
}

async function compare(small, large, { env, short, ours }) {
  const names = [...ours, ...PEERS];
  const hosts = { small, large };
  const places = names.flatMap((name) => [`${name} small`, `${name} large`]);
  const at = (place) => {
    const [name, size] = place.split(' ');
    // A peer takes 80 ms per command in the large process. Ours takes less and needs more runs.
    const count = name === OURS ? 40 : size === 'small' ? 10 : short ? 2 : 3;
    return { name, host: hosts[size], count };
  };
  for (const name of names) await small.ask('latency', name, 10, env);
  for (const name of names) await large.ask('latency', name, 3, env);
  const resident = await large.ask('grow', BALLAST);

  const rounds = short ? 3 : 12;
  const times = await interleave(places, rounds, (place) => {
    const { name, host, count } = at(place);
    return host.ask('latency', name, count, env);
  });
  const gaps = await interleave(places, Math.ceil(rounds / 2), (place) => {
    const { name, host, count } = at(place);
    return host.ask('block', name, count, env);
  });
  const idle = median(await large.ask('block', null, 40));

  const total = (place) => median(times.get(place).flatMap((round) => round.total));
  const call = (place) => median(times.get(place).flatMap((round) => round.call));
  const gap = (place) => median(gaps.get(place).flat());
  const reach = (name, limit) => (name === OURS ? limit : null);
  const both = (place, name) => `small: ${milliseconds(place(`${name} small`))}`;
  return [
    ...names.map((name) =>
      ratio(`${name}, large ÷ small`, total(`${name} large`) / total(`${name} small`), {
        reach: reach(name, { max: 1.1 }),
        note: `${milliseconds(total(`${name} large`))} against ${milliseconds(total(`${name} small`))}; ${megabytes(resident)} resident`,
      }),
    ),
    ...names.map((name) =>
      time(`${name}, synchronous part of the call`, call(`${name} large`), {
        reach: reach(name, { max: 0.1 }),
        note: both(call, name),
      }),
    ),
    ...names.map((name) =>
      time(`${name}, longest event-loop block`, gap(`${name} large`), {
        reach: reach(name, { max: 0.1 }),
        note: `${both(gap, name)}; idle loop: ${milliseconds(idle)}`,
      }),
    ),
  ];
}
