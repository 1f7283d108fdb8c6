// Secrets: requests through a connection that the gate opens, beside one that it only relays.
import { withHost } from '../host/index.mjs';
import { median } from '../stats.mjs';
import { milliseconds, ratio, time } from '../table.mjs';

export const title = 'secrets';

export function measure({ short, ours }) {
  if (ours.length === 0) return [];
  return withHost({}, async (host) => {
    const [rounds, count, bytes] = short ? [4, 100, 1e8] : [10, 500, 1e9];
    const { opened, relayed } = await host.ask('secretRequests', rounds, count, bytes);
    const more = (what, kind, max) => {
      const [above, below] = [opened, relayed].map((way) => median(way[kind]));
      return time(what, above - below, {
        reach: { max },
        note: `${milliseconds(above)} beside ${milliseconds(below)}`,
      });
    };
    const [above, below] = [opened, relayed].map(({ download }) => median(download));
    const note = `${milliseconds(above)} beside ${milliseconds(below)}`;
    return [
      more('a request with a secret, more', 'later', 0.5),
      more('the first of a connection, more', 'first', 3),
      ratio(`${bytes / 1e6} MB: opened ÷ relayed`, above / below, { reach: { max: 1.5 }, note }),
    ];
  });
}
