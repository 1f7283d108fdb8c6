// What an entry in the ledger costs a command, in turns with commands without one. Times are in milliseconds.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bash } from 'agent-bash';

async function one(command, ledger, pause) {
  await sleep(pause);
  const started = performance.now();
  await bash(command, { ledger });
  return performance.now() - started;
}

/** Runs a command `count` times with an entry and without one, and a pause of `ms` before each run. */
async function entered(state, command, count, ms) {
  process.env.XDG_STATE_HOME = state;
  const times = { off: [], on: [] };
  for (let at = 0; at < count; at++) {
    const order = at % 2 === 0 ? [false, true] : [true, false];
    for (const ledger of order) times[ledger ? 'on' : 'off'].push(await one(command, ledger, ms));
  }
  return times;
}

/** Fills a ledger with `count` entries, which repeat those of real commands. */
async function filled(state, count) {
  process.env.XDG_STATE_HOME = state;
  const run = (at) => bash(`echo ${at} | head -1`, { ledger: true, timeoutMs: 300_000 });
  await Promise.all(Array.from({ length: 1_000 }, (_, at) => run(at)));
  const directory = join(state, 'agent-bash/ledger');
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name));
    for (let copies = 1; copies < count / 1_000; copies++) writeFileSync(join(directory, name), text, { flag: 'a' });
  }
}

export const entries = { entered, filled };
