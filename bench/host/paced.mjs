import { setTimeout as sleep } from 'node:timers/promises';
import { BashSession, bash } from 'agent-bash';

let session;

/** The ways in which a command can get its shell. */
const WAYS = {
  cold: (command) => bash(command, { warm: false }),
  warm: (command) => bash(command),
  session(command) {
    session ??= new BashSession();
    return session.run(command);
  },
  snapshot: (command) => bash(command, { snapshot: true }),
};

/** Runs a command `count` times in one of these ways, with a pause of `ms` before each: the time of each. */
export async function paced(way, count, ms, command) {
  const total = [];
  for (let i = 0; i < count; i++) {
    // Not even a turn of the event loop where there is to be no pause.
    if (ms > 0) await sleep(ms);
    const started = performance.now();
    const { exitCode, stderr } = await WAYS[way](command);
    total.push(performance.now() - started);
    if (exitCode !== 0) throw new Error(`${way}: ${command} gave exit code ${exitCode}: ${stderr}`);
  }
  return total;
}
