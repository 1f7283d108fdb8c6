// 5,000 commands, aborts, limits and tasks in one process. Nothing of them may be left.
import { withHost } from '../host/index.mjs';
import { number, size } from '../table.mjs';

export const title = '5,000 mixed commands, aborts, limits, tasks';

export async function measure({ short, ours }) {
  if (ours.length === 0) return [];
  const [warmUp, count] = short ? [280, 560] : [1_120, 5_000];
  const { before, after, total, wrong } = await withHost({}, (host) => host.ask('soak', warmUp, count));
  if (wrong.length > 0)
    throw new Error(`${wrong.length} of ${warmUp + count} were wrong: ${[...new Set(wrong)].join('; ')}`);
  const more = (what, key) =>
    number(`${what} more than before`, Math.max(0, after[key] - before[key]), {
      reach: { max: 0 },
      note: `${before[key]} before, ${after[key]} after`,
    });
  return [
    number('commands', count, { note: `${(total / 1e3).toFixed(0)} s, after ${warmUp} for warm-up` }),
    more('descriptors', 'descriptors'),
    more('descriptors of helpers', 'helperDescriptors'),
    more('threads', 'threads'),
    more('processes', 'processes'),
    number('zombies', after.zombies, { reach: { max: 0 } }),
    number('files in the temporary folder', after.files, { reach: { max: 0 } }),
    size('resident growth', Math.max(0, after.resident - before.resident), {
      reach: { max: 20e6 },
      note: `${Math.round(before.resident / 1e6)} MB before; the JavaScript heap: ${Math.round(before.heap / 1e6)}, then ${Math.round(after.heap / 1e6)} MB`,
    }),
  ];
}
