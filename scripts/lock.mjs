/** Lets one set-up run at a time in a clone, also if two commands start at once or one of them was killed. */
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FREE = 'free';

/** Identifies a process for good: the system may give its pid to another process later. */
function identity(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return `${pid}`;
  }
}

function lives(owner) {
  const pid = Number.parseInt(owner, 10);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  return identity(pid) === owner;
}

/**
 * Runs `act` while no other process runs one for the same directory. `waiting` is called once with the pid of the
 * process that is waited for.
 *
 * Every turn is a file `turn-N` that names its owner. The highest turn counts and is never removed, so a process can
 * take a turn from a dead owner without a race between two processes that both remove the old lock.
 */
export async function exclusively(folder, act, waiting = () => {}) {
  mkdirSync(folder, { recursive: true });
  const self = identity(process.pid);
  const draft = join(folder, `draft-${process.pid}`);
  const turns = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith('turn-'))
      .map((name) => Number(name.slice(5)))
      .sort((a, b) => a - b);
  const file = (turn) => join(folder, `turn-${turn}`);

  const enter = () => {
    const last = turns().at(-1) ?? 0;
    const owner = last ? readFileSync(file(last), 'utf8') : FREE;
    if (owner !== FREE && lives(owner)) return { owner };
    writeFileSync(draft, self);
    try {
      linkSync(draft, file(last + 1)); // Atomic: the file appears whole, and for one process only.
    } finally {
      rmSync(draft);
    }
    if (turns().at(-1) === last + 1) return { turn: last + 1 };
    rmSync(file(last + 1)); // Another process has taken a later turn meanwhile.
    return {};
  };

  let turn = 0;
  for (let told = false; !turn; ) {
    let found = {};
    try {
      found = enter();
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
    }
    turn = found.turn ?? 0;
    if (found.owner && !told) {
      told = true;
      waiting(Number.parseInt(found.owner, 10));
    }
    if (!turn) await sleep(found.owner ? 200 : 5);
  }
  try {
    for (const old of turns()) if (old < turn) rmSync(file(old), { force: true });
    return await act();
  } finally {
    writeFileSync(draft, FREE);
    renameSync(draft, file(turn));
  }
}
