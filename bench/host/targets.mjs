// Commands and connections of a target that ssh reaches as `box`. Times are in milliseconds, sizes in bytes.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { bash, connect } from 'agent-bash';
import { median } from '../stats.mjs';

const execute = promisify(execFile);

const addressOf = (config) => ({ ssh: { host: 'box', config } });

async function took(act) {
  const started = performance.now();
  const result = await act();
  return { ms: performance.now() - started, result };
}

/** Connects `count` times without the program there and with it, in turns with ssh alone. */
async function connections(config, count) {
  const times = { first: [], later: [], ssh: [] };
  for (let at = 0; at < count; at++) {
    for (const kind of ['first', 'later']) {
      const { ms, result: target } = await took(() => connect(addressOf(config)));
      times[kind].push(ms);
      if (target.info.program.sent !== (kind === 'first')) throw new Error(`the program was sent: ${kind} connection`);
      if (kind === 'first') await target.close();
      else await target.uninstall();
    }
    times.ssh.push((await took(() => execute('ssh', ['-F', config, 'box', 'true']))).ms);
  }
  return times;
}

/** Runs `true` on the target and here, in turns, and measures a round trip and the memory of the program. */
async function onTarget(config, count) {
  const target = await connect(addressOf(config));
  try {
    const idle = residentOf(target.info.pid);
    const [there, here, trips] = [[], [], []];
    for (let at = 0; at < count; at++) {
      there.push((await took(() => bash('true', { target }))).ms);
      here.push((await took(() => bash('true'))).ms);
      trips.push((await took(() => target.stat('/'))).ms);
    }
    return { there, here, rtt: median(trips), idle };
  } finally {
    await target.close();
  }
}

function residentOf(pid) {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

export const targets = { connections, onTarget };
