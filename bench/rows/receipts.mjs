// The costs of receipts and undo: of a command that changes little, of many changes, and of taking them back.
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { milliseconds, ratio, time } from '../table.mjs';

export const title = 'receipts and undo';

/** Runs each way in turn, so that a slow spell of the machine affects all alike, in one host. */
async function inTurn(ways, rounds, ask) {
  for (const way of ways) await ask(way);
  return interleave(ways, rounds, ask);
}

/** The line of a way beside another one: the ratio of their medians. */
function beside(what, [above, below], reach) {
  const { low, high } = spread(above, below);
  const [one, other] = [median(above), median(below)];
  const note = `${milliseconds(one)} p50 beside ${milliseconds(other)}; rounds ${low.toFixed(2)}–${high.toFixed(2)}`;
  return ratio(what, one / other, { reach, note });
}

/** The line of the time by which one way takes longer than another. */
function more(what, [above, below], reach) {
  const [one, other] = [median(above), median(below)];
  return time(what, one - other, { reach, note: `${milliseconds(one)} p50 beside ${milliseconds(other)}` });
}

async function measureStarts(host, { rounds, count }) {
  const ways = ['off', 'exact', 'undo', 'confined', 'confined, exact'];
  const series = await inTurn(ways, rounds, (way) => host.ask('recordedStarts', way, 'true', count));
  const all = (way) => series.get(way).flat();
  return [
    more('`true`: exact, more', [all('exact'), all('off')], { max: 0.5 }),
    more('`true`: undo, more', [all('undo'), all('off')], null),
    more('`true`, confined: exact, more', [all('confined, exact'), all('confined')], { max: 0.5 }),
  ];
}

async function measureCreations(host, { rounds, files }) {
  const ways = ['off', 'exact', 'undo', 'confined', 'confined, exact'];
  const series = await inTurn(ways, rounds, (way) => host.ask('recordedCreation', way, files));
  const many = files.toLocaleString('en');
  const line = (way, other, reach) =>
    beside(`${many} files: ${way} ÷ ${other}`, [series.get(way), series.get(other)], reach);
  return [
    line('exact', 'off', { max: 1.15 }),
    line('undo', 'off', null),
    line('confined, exact', 'confined', { max: 1.15 }),
  ];
}

async function measureRemovals(host, { rounds, files }) {
  const ways = ['off', 'undo', 'confined', 'confined, undo'];
  const peers = ['cp -al', 'shadow git', 'git stash -u'];
  const series = await inTurn([...ways, ...peers], rounds, (way) =>
    peers.includes(way) ? host.ask('keptByPeer', way, files) : host.ask('recordedRemoval', way, files),
  );
  const column = (way, at) => series.get(way).map((times) => times[at]);
  const many = `rm -rf of ${files.toLocaleString('en')}`;
  const broughtBack = (way) => ({ note: `bringing back ${milliseconds(median(column(way, 1)))}` });
  return [
    beside(`${many}: undo ÷ off`, [column('undo', 0), column('off', 0)], { max: 1.6 }),
    beside(`${many}, confined: undo ÷ off`, [column('confined, undo', 0), column('confined', 0)], { max: 1.6 }),
    beside('undoing it ÷ cp -al', [column('undo', 1), column('cp -al', 0)], { max: 2 }),
    time('undo: added to the command', median(column('undo', 0)) - median(column('off', 0)), broughtBack('undo')),
    ...peers.map((way) => time(`${way}: before the command`, median(column(way, 0)), broughtBack(way))),
  ];
}

async function measureWatch(host, { files, count }) {
  const quiet = await host.ask('watched', 'true', files, count);
  const writing = await host.ask('watched', 'touch new/{0..9}', files, count);
  const many = files.toLocaleString('en');
  return [
    more(`watch, ${many} files: quiet, more`, [quiet.watch, quiet.off], { max: 0.3 }),
    more(`watch, ${many} files: ten written, more`, [writing.watch, writing.off], { max: 1 }),
  ];
}

export function measure({ short, ours }) {
  if (ours.length === 0) return [];
  const files = short ? 3_000 : 30_000;
  return withHost({}, async (host) => [
    ...(await measureStarts(host, short ? { rounds: 4, count: 15 } : { rounds: 20, count: 20 })),
    ...(await measureCreations(host, { rounds: short ? 3 : 7, files })),
    ...(await measureRemovals(host, { rounds: short ? 3 : 5, files })),
    ...(await measureWatch(host, short ? { files: 5_000, count: 30 } : { files: 50_000, count: 200 })),
  ]);
}
