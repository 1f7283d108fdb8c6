// Measurements of views in a host process. Times are in milliseconds.
import { Meter } from './meter.mjs';

/** Runs `command` at a level `count` times. Returns the time of each. */
async function viewed(level, command, count, dir) {
  const { bash } = await import('agent-bash');
  const times = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    const { exitCode, view } = await bash(command, { reduce: level, spill: { dir } });
    times.push(performance.now() - started);
    if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}`);
    const leavesOut = (view?.elided.length ?? 0) > 0;
    if (leavesOut !== (level === 'salient')) throw new Error(`${command}: not the view of ${level}`);
  }
  return times;
}

/** Runs `command` at a level once. Returns its time, and how far this process has grown. */
async function viewedStream(level, command, dir) {
  const meter = new Meter();
  const [total] = await viewed(level, command, 1, dir);
  return { ...(await meter.stop()), total };
}

export const views = { viewed, viewedStream };
