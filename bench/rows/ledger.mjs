// The ledger: what an entry costs a command, and how long `agent-bash log` takes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withHost } from '../host/index.mjs';
import { median } from '../stats.mjs';
import { milliseconds, time } from '../table.mjs';

export const title = 'ledger';

const CLI = fileURLToPath(new URL('../../dist/cli.mjs', import.meta.url));
const ENTRIES = 100_000;

/** Commands: the second one has a word that makes the search for secrets begin. */
const COMMANDS = ['true', 'true --token abc123'];

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const place = mkdtempSync(join(folder, 'agent-bash-ledger-'));
  try {
    return [...(await cost(place, short)), await reading(place, short)];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** The median difference of a command with an entry and one without, in turns. */
function cost(place, short) {
  return withHost({}, async (host) => {
    const lines = [];
    for (const command of COMMANDS) {
      await host.ask('entered', place, command, 20, 10);
      const { off, on } = await host.ask('entered', place, command, short ? 200 : 1_000, 10);
      const note = `${milliseconds(median(on))} beside ${milliseconds(median(off))}, warm, p50`;
      lines.push(time(`an entry for \`${command}\``, median(on) - median(off), { reach: { max: 0.02 }, note }));
    }
    return lines;
  });
}

async function reading(place, short) {
  await withHost({}, (host) => host.ask('filled', place, ENTRIES));
  const env = { ...process.env, XDG_STATE_HOME: place, NO_COLOR: '1' };
  const times = [];
  for (let round = 0; round < (short ? 5 : 15); round++) {
    const started = performance.now();
    const text = execFileSync(process.execPath, [CLI, 'log'], { env, maxBuffer: 2 ** 30 });
    times.push(performance.now() - started);
    const lines = text.toString().split('\n').length - 1;
    if (lines < ENTRIES) throw new Error(`agent-bash log: ${lines} of ${ENTRIES} entries`);
  }
  const note = `the process from its start to its exit; best ${milliseconds(Math.min(...times))}`;
  return time(`agent-bash log over ${ENTRIES} entries`, median(times), { reach: { max: 300 }, note });
}
