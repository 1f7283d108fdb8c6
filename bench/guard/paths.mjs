/** The hot paths of whole commands. `host.mjs` runs each of them, below a tool that counts. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a directory that goes with this process. */
function temporary() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-bash-guarded-')));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Work that runs one command. `check` throws if the result is not that of the path. A command that may start in a warm
 * shell does, also on a busy machine.
 */
function command(text, options = {}, check = () => {}) {
  let cwd;
  return async ({ bash, warmUp }) => {
    cwd ??= temporary();
    if (options.warm) await warmUp({ cwd, ...options });
    const result = await bash(text, { cwd, ...options });
    if (result.exitCode !== 0) throw new Error(`${text}: exit code ${result.exitCode}: ${result.stderr}`);
    check(result);
  };
}

const known = ({ receipt }) => {
  if (receipt.state !== 'known') throw new Error(`receipt: ${receipt.why}`);
};

const tapped = ({ evidence }) => {
  if (!evidence.tap) throw new Error(`no tap: ${evidence.why}`);
};

async function task({ BackgroundRegistry }) {
  const registry = new BackgroundRegistry();
  const { id } = await registry.start('true');
  await registry.wait(id);
  await registry.close();
}

/**
 * A path whose work runs as often as each of the two counts says. What the larger one takes more is its cost, so the
 * start of the host does not count.
 */
const instructions = (counts, act) => ({ unit: 'instructions', counts, act });
/** A path in which the kernel asks our listeners, which valgrind cannot follow. Their cost is that of their calls. */
const calls = (counts, act, env = {}) => ({ unit: 'calls', counts, act, env });

const STARTS = [20, 220];
const FLOWS = [1, 3];
const creations = 'mkdir $$; for n in {1..1000}; do echo $n > $$/$n; done';
const opens = 'for n in {1..1000}; do : < /etc/hostname; done';

export const PATHS = {
  'a warm start': instructions(STARTS, command('true', { warm: true })),
  'a cold start': instructions(STARTS, command('true', { warm: false })),
  'a confined start': calls(STARTS, command('true', { confine: 'workspace', warm: true })),
  'a recorded start': calls(STARTS, command('true', { receipt: 'exact', warm: true }, known)),
  'a start with evidence': instructions(STARTS, command('true', { evidence: 'status', warm: false })),
  'a start with a ledger entry': instructions(STARTS, command('true', { ledger: true, warm: false })),
  'a task to its end': instructions(STARTS, task),
  'the output of a command': instructions(FLOWS, command('yes 0123456789 | head -c 16000000')),
  'a view of an output': instructions(FLOWS, command('yes 0123456789 | head -c 4000000', { reduce: 'salient' })),
  'a tap': instructions(FLOWS, command('yes 0123456789 | head -c 4000000', { evidence: 'status', taps: 'on' }, tapped)),
  '1,000 confined opens': calls(FLOWS, command(opens, { confine: 'workspace' }), { AGENT_BASH_NAMESPACES: 'off' }),
  '1,000 recorded creations': calls(FLOWS, command(creations, { receipt: 'exact' }, known)),
  '1,000 creations with undo': calls(FLOWS, command(creations, { undo: 'always' })),
};
