// The costs of confinement: starts, the first command of a world, creating files, and the remains of many worlds.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { milliseconds, number, ratio, time } from '../table.mjs';

export const title = 'confinement';

const PEERS = fileURLToPath(new URL('../../target/bench/peers/', import.meta.url));
const RUNTIME = '@anthropic-ai/sandbox-runtime';
const VERSION = '0.0.83';

/** Returns why bubblewrap cannot be measured, or null. */
function withoutBwrap() {
  try {
    execFileSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return error.code === 'ENOENT' ? 'bwrap is not installed (Debian: bubblewrap)' : `bwrap: ${error.message}`;
  }
}

/** Returns the directory of sandbox-runtime, installed by npm if it may be, or why it cannot be measured. */
function runtimeFolder(mayInstall) {
  const folder = join(PEERS, 'node_modules', RUNTIME);
  if (existsSync(folder)) return { folder };
  if (!mayInstall) return { why: 'not installed: a full run installs it' };
  try {
    mkdirSync(PEERS, { recursive: true });
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
    execFileSync('npm', ['install', '--prefix', PEERS, ...quiet, `${RUNTIME}@${VERSION}`], { stdio: 'pipe' });
    return { folder };
  } catch (error) {
    return { why: `npm could not install it: ${error.message.split('\n')[0]}` };
  }
}

/** A peer that is not measured. */
const skipped = (name, why) => number(name, 0, { note: `not measured: ${why}` });

/** Starts one host per way, and passes a function that asks the host of a way. */
async function withHosts(ways, use, hosts = new Map()) {
  const [way, ...rest] = ways;
  if (way === undefined) return use((name, ...question) => hosts.get(name).ask(...question));
  return withHost({}, (host) => withHosts(rest, use, hosts.set(way, host)));
}

/** Measures starts with a pause before each, of each way in turn. */
function starts(ways, rounds, count, folder) {
  return withHosts(ways, async (ask) => {
    const once = (way) => ask(way, 'confinedStarts', way, count, 10, folder);
    for (const way of ways) await once(way);
    return interleave(ways, rounds, once);
  });
}

/** The line of a way beside another one: the ratio of their medians. */
function beside(what, series, [way, other], reach) {
  const [above, below] = [series.get(way), series.get(other)];
  const { low, high } = spread(above.map(median), below.map(median));
  const [p50, base] = [above, below].map((rounds) => median(rounds.flat()));
  const note = `${milliseconds(p50)} p50 beside ${milliseconds(base)}; rounds ${low.toFixed(2)}–${high.toFixed(2)}`;
  return ratio(what, p50 / base, { reach, note });
}

/** Returns the ways of the peers that can be measured, and lines for the others. */
async function findPeers(runtime) {
  const lines = [];
  const ways = [];
  const noBwrap = withoutBwrap();
  if (noBwrap) lines.push(skipped('bubblewrap', noBwrap));
  else ways.push('bwrap');
  if (runtime.why) lines.push(skipped('sandbox-runtime', runtime.why));
  else {
    try {
      await withHost({}, (host) => host.ask('confinedStarts', 'sandbox-runtime', 1, 0, runtime.folder));
      ways.push('sandbox-runtime');
    } catch (error) {
      lines.push(skipped('sandbox-runtime', error.message.split('\n')[0]));
    }
  }
  return { ways, lines };
}

async function measureStarts({ rounds, count, ways, folder, ours }) {
  const own = ours ? ['plain', 'confined', 'plain, warm', 'confined, warm'] : [];
  const series = await starts([...own, 'spawn', ...ways], rounds, count, folder);
  const reach = { max: 1.25 };
  const mine = ours
    ? [
        beside('cold: confined ÷ not', series, ['confined', 'plain'], reach),
        beside('warm: confined ÷ not', series, ['confined, warm', 'plain, warm'], reach),
        beside('cold, confined ÷ spawn', series, ['confined', 'spawn'], null),
      ]
    : [];
  return [...mine, ...ways.map((way) => beside(`${way} ÷ spawn`, series, [way, 'spawn'], null))];
}

/** The first command of a world, in hosts whose supervisor is running. */
function measureFirst({ rounds, count }) {
  const ways = ['plain', 'confined'];
  return withHosts(ways, async (ask) => {
    const once = (way) => ask(way, 'firstCommands', count, way === 'confined' ? 'workspace' : null);
    for (const way of ways) await once(way);
    const series = await interleave(ways, rounds, once);
    const [plain, confined] = ways.map((way) => median(series.get(way).flat()));
    const note = `${milliseconds(confined)} p50 beside ${milliseconds(plain)} in a session without confinement`;
    return [time('first command of a world, more', confined - plain, { reach: { max: 10 }, note })];
  });
}

function measureFiles({ rounds, files, ways, folder, ours }) {
  const all = [...(ours ? ['plain', 'confined'] : ['spawn']), ...ways];
  return withHosts(all, async (ask) => {
    const once = async (way) => [await ask(way, 'createFiles', way, files, folder)];
    for (const way of all) await once(way);
    const series = await interleave(all, rounds, once);
    const base = all[0];
    return all
      .slice(1)
      .map((way) =>
        beside(
          `${files.toLocaleString('en')} files: ${way} ÷ ${base}`,
          series,
          [way, base],
          way === 'confined' ? { max: 1.1 } : null,
        ),
      );
  });
}

async function measureWorlds(count) {
  const { before, after, left } = await withHost({}, (host) => host.ask('manyWorlds', count));
  const more = (what, key) =>
    number(`${count} worlds: ${what} more than before`, Math.max(0, after[key] - before[key]), {
      reach: { max: 0 },
      note: `${before[key]} before, ${after[key]} after`,
    });
  return [
    more('mounts', 'mounts'),
    more('namespaces', 'namespaces'),
    more('processes', 'processes'),
    more('zombies', 'zombies'),
    more('descriptors', 'descriptors'),
    more('descriptors of helpers', 'helperDescriptors'),
    more('files in the temporary folder', 'files'),
    number(`${count} worlds: private directories left`, left.length, { reach: { max: 0 } }),
  ];
}

export async function measure({ short, ours }) {
  const runtime = runtimeFolder(!short);
  const { ways, lines } = await findPeers(runtime);
  const common = { ways, folder: runtime.folder, ours: ours.length > 0 };
  const rows = [
    await measureStarts({ ...common, ...(short ? { rounds: 4, count: 15 } : { rounds: 20, count: 20 }) }),
    ours.length > 0 ? await measureFirst(short ? { rounds: 2, count: 6 } : { rounds: 8, count: 8 }) : [],
    await measureFiles({ ...common, ...(short ? { rounds: 3, files: 3_000 } : { rounds: 9, files: 30_000 }) }),
    ours.length > 0 ? await measureWorlds(short ? 40 : 200) : [],
  ];
  return [...rows.flat(), ...lines];
}
