// Measurements of background tasks in a host process. Times are in milliseconds, sizes in bytes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Meter } from './meter.mjs';

/** Opens a registry, with or without a directory, and removes both after use. */
async function withRegistry({ kept = false, ...options }, use) {
  const { BackgroundRegistry } = await import('agent-bash');
  const dir = kept ? mkdtempSync(join(tmpdir(), 'agent-bash-bench-')) : undefined;
  const registry = new BackgroundRegistry({ maxTasks: 1000, ...(dir && { dir }), ...options });
  try {
    return await use(registry);
  } finally {
    await registry.killAll();
    await registry.close();
    if (dir) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function timed(action) {
  const started = performance.now();
  const value = await action();
  return [performance.now() - started, value];
}

/** Measures the start of a task that exits at once, up to the returned task, `count` times. */
function startTasks(count, kept) {
  return withRegistry({ kept }, async (registry) => {
    const times = [];
    for (let i = 0; i < count; i++) {
      const [time, { id }] = await timed(() => registry.start('true'));
      times.push(time);
      const { task } = await registry.wait(id);
      if (task.exitCode !== 0) throw new Error(`\`true\` in the background: ${JSON.stringify(task)}`);
    }
    return times;
  });
}

/** Measures `list()`, and `check()` of one task, while `running` tasks run. */
function readTasks(running, count, kept) {
  return withRegistry({ kept }, async (registry) => {
    const started = [];
    for (let i = 0; i < running; i++) started.push(await registry.start('echo up; exec sleep 1000'));
    await Promise.all(started.map(({ id }) => registry.wait(id, { pattern: 'up' })));
    const list = [];
    const check = [];
    for (let i = 0; i < count; i++) {
      const [time, all] = await timed(() => registry.list());
      if (all.length !== running) throw new Error(`${all.length} of ${running} tasks are listed`);
      list.push(time);
      check.push((await timed(() => registry.check(started[(i * 7) % running].id)))[0]);
    }
    return { list, check };
  });
}

/** Measures `count` runs of `true`, with a background `yes` if `flood` is true. */
function besideFlood(flood, count, cap) {
  return withRegistry({ maxLogBytes: cap }, async (registry) => {
    const { bash } = await import('agent-bash');
    const task = flood ? await registry.start('yes') : null;
    // From now on the pipe is never empty.
    while (task && statSync(task.logPath).size === 0) await sleep(5);
    const meter = new Meter();
    const times = [];
    for (let i = 0; i < count; i++) times.push((await timed(() => bash('true')))[0]);
    // The log reaches its cap before it is checked.
    for (let n = 0; task && n < 2_000 && statSync(task.logPath).size < cap; n++) await sleep(10);
    if (task) await sleep(200);
    const { growth } = meter.stop();
    return { times, growth, log: task ? statSync(task.logPath).size : 0 };
  });
}

function living(seconds) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
}

/** Measures the kill of a tree of `size` processes, a third of them in sessions of their own, until none is left. */
function killTree(size, stubborn) {
  return withRegistry({}, async (registry) => {
    const seconds = `1000.${Math.floor(Math.random() * 1e9)}`;
    const command = `${stubborn ? "trap '' TERM; " : ''}for ((i = 0; i < ${size}; i++)); do if ((i % 3)); then sleep ${seconds} & else setsid sleep ${seconds} & fi; done; echo up; wait`;
    const graceMs = stubborn ? 300 : 2_000;
    const task = await registry.start(command, { graceMs });
    await registry.wait(task.id, { pattern: 'up' });
    while (living(seconds).length < size) await sleep(10);
    const [time] = await timed(() => registry.kill(task.id));
    return { afterSignal: Math.max(0, time - (stubborn ? graceMs : 0)), left: living(seconds).length };
  });
}

export const background = { startTasks, readTasks, besideFlood, killTree };
