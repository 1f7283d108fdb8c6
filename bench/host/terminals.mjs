// Measurements of terminals in a host process. Times are in milliseconds, sizes in bytes.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { atRest, withTemporary } from './held.mjs';
import { Meter } from './meter.mjs';

async function terminal(options) {
  const { PtySession } = await import('agent-bash');
  return new PtySession(options);
}

/** Loads the supervisor, its code and the emulator before the measurement. */
async function warmTerminals(count) {
  for (let n = 0; n < count; n++) {
    const session = await terminal();
    await session.start('seq 1000');
    await session.result();
  }
}

/**
 * Reads all output of `command` in a terminal: into a file in `dir`, or with `drawn` by a listener. `written` is the
 * digest of the file, or the number of UTF-16 units that the listener received.
 */
async function terminalOutput(command, dir, drawn) {
  const spill = drawn ? false : { dir, maxBytes: 4 * 2 ** 30 };
  const meter = new Meter();
  const session = await terminal({ spill });
  let heard = 0;
  if (drawn) {
    session.on('data', (text) => {
      heard += text.length;
    });
  }
  await session.start(command);
  const { exitCode, truncation } = await session.result();
  const figures = meter.stop();
  if (exitCode !== 0) throw new Error(`${command} in a terminal: exit code ${exitCode}`);
  if (drawn) return { ...figures, written: heard };
  const { path, spillError } = truncation.stdout;
  if (spillError) throw new Error(`the file of a terminal: ${spillError}`);
  const written = createHash('sha256').update(readFileSync(path)).digest('hex');
  rmSync(path);
  return { ...figures, written };
}

/**
 * Types `count` keys into `command`, one after another. Measures the time from each call to the screen that shows the
 * key.
 */
async function keystrokes(command, prompt, count) {
  const session = await terminal();
  let look = () => {};
  session.on('data', () => look());
  /** Waits until the screen shows the text. Every new output is a reason to check. */
  const shows = (line) =>
    new Promise((resolve) => {
      look = () => {
        const { lines, cursor } = session.screen();
        if (lines[cursor.row] === line) resolve();
      };
      look();
    });
  await session.start(command);
  await shows(prompt.trimEnd());
  const times = [];
  for (let typed = ''; times.length < count; ) {
    // A short pause, as a person would make, so that no output is pending.
    await sleep(2);
    const key = String.fromCharCode(97 + (times.length % 26));
    typed += key;
    const started = performance.now();
    const taken = session.write(key);
    await shows(`${prompt}${typed}`);
    times.push(performance.now() - started);
    await taken;
    if (typed.length < 60) continue;
    // Clears the line.
    await session.write('\x15');
    await shows(prompt.trimEnd());
    typed = '';
  }
  await session.kill();
  return times;
}

const HELD = ['descriptors', 'helperDescriptors', 'threads', 'processes', 'zombies'];

/** Commands that cannot be started. The last one is refused by the system. */
const FAILING = [
  { cwd: '/nowhere/at/all' },
  { shell: '/nowhere/bash' },
  { timeoutMs: -1 },
  { env: { BIG: 'x'.repeat(200_000) } },
];

/** Every second terminal cannot be started. A third of the others are killed, and all have a listener. */
async function oneOfMany(n) {
  const fails = n % 2 === 0;
  const killed = n % 3 === 0;
  try {
    const session = await terminal(fails ? FAILING[(n / 2) % FAILING.length] : {});
    session.on('data', () => {});
    await session.start(killed ? 'sleep 100' : `exit ${n % 200}`);
    if (fails) return 'one started that cannot';
    if (killed) await session.kill();
    const { exitCode } = await session.result();
    return exitCode === (killed ? 130 : n % 200) ? null : `exit code ${exitCode}`;
  } catch (error) {
    return fails ? null : error.message;
  }
}

async function crowds(count) {
  const wrong = [];
  for (let done = 0; done < count; done += 50) {
    wrong.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => oneOfMany(done + n)))));
  }
  return wrong.filter(Boolean);
}

/** Opens and closes `count` terminals, 50 at a time, half of which fail. Returns the resources before and after. */
function manyTerminals(count) {
  return withTemporary(async () => {
    const early = await crowds(100);
    // Helpers that are no longer needed exit by themselves.
    await sleep(1_000);
    const before = await atRest(({ zombies }) => zombies === 0);
    const wrong = [...early, ...(await crowds(count))];
    const after = await atRest((now) => HELD.every((key) => now[key] <= before[key]));
    return { before, after, wrong };
  });
}

export const terminals = { warmTerminals, terminalOutput, keystrokes, manyTerminals };
