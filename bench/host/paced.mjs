import { setTimeout as sleep } from 'node:timers/promises';
import { BashSession, bash } from 'agent-bash';

let session;

/** The kinds of shells for a command. */
const WAYS = {
  cold: (command) => bash(command, { warm: false }),
  warm: (command) => bash(command),
  session(command) {
    session ??= new BashSession();
    return session.run(command);
  },
  snapshot: (command) => bash(command, { snapshot: true }),
};

/** Runs a command `count` times with one kind of shell and a pause of `ms` before each run. Returns the times. */
export async function paced(way, count, ms, command) {
  const total = [];
  for (let i = 0; i < count; i++) {
    // Without a pause the event loop must not turn either.
    if (ms > 0) await sleep(ms);
    const started = performance.now();
    const { exitCode, stderr } = await WAYS[way](command);
    total.push(performance.now() - started);
    if (exitCode !== 0) throw new Error(`${way}: ${command} gave exit code ${exitCode}: ${stderr}`);
  }
  return total;
}
