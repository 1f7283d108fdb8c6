// Size of the package, and time of its import and its first call.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { interleave, median, quantile } from '../stats.mjs';
import { milliseconds, ratio, size, time } from '../table.mjs';

export const title = 'sizes and load';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IMPORT = fileURLToPath(new URL('../host/import.mjs', import.meta.url));
const run = promisify(execFile);

/** Each process imports one module. The empty module shows the time of the loader itself. */
const LOADS = {
  'empty module, require': ['./empty.cjs', 'require'],
  'empty module, import': ['./empty.cjs', 'import'],
  'agent-bash, first import': ['agent-bash', 'first-call'],
  'agent-bash, require': ['agent-bash', 'require'],
  'execa, import': ['execa', 'import'],
  'tinyexec, import': ['tinyexec', 'import'],
  'nano-spawn, import': ['nano-spawn', 'import'],
};

const load = async (name) => JSON.parse((await run(process.execPath, [IMPORT, ...LOADS[name]])).stdout);

export async function measure({ short, ours }) {
  const names = Object.keys(LOADS).filter((name) => ours.length > 0 || !name.startsWith('agent-bash'));
  for (const name of names) await load(name);
  const measured = await interleave(names, short ? 7 : 15, load);
  const times = (name, key = 'load') => measured.get(name).map((one) => one[key]);
  const range = (values) => `p10–p90 ${quantile(values, 0.1).toFixed(2)}–${quantile(values, 0.9).toFixed(2)} ms`;
  const loads = names.map((name) =>
    time(name, median(times(name)), {
      reach: name === 'agent-bash, first import' ? { max: 10 } : null,
      note: range(times(name)),
    }),
  );
  if (ours.length === 0) return loads;

  const [first, second] = ['first', 'second'].map((key) => times('agent-bash, first import', key));
  return [
    ...sizes(),
    ...loads,
    time('agent-bash, first call', median(first), { note: range(first) }),
    ratio('agent-bash, first call ÷ second', median(first) / median(second), {
      note: `the second: ${milliseconds(median(second))}`,
    }),
  ];
}

/** Returns the sizes of the addon for this platform and of the supervisor, as built. */
function sizes() {
  const addons = readdirSync(ROOT).filter((file) => file.endsWith('.node') && file.includes(process.platform));
  if (addons.length === 0) throw new Error(`no addon (*.node) in ${ROOT}`);
  const supervisor = `${ROOT}agent-bash-supervisor`;
  if (!existsSync(supervisor)) throw new Error(`no supervisor at ${supervisor}`);
  return [
    ...addons.map((file) => size('addon', statSync(`${ROOT}${file}`).size, { reach: { max: 4e6 }, note: file })),
    size('supervisor', statSync(supervisor).size, { reach: { max: 600e3 } }),
  ];
}
