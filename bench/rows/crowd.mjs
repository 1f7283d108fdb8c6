// 1,000 commands at once in a process that may open 512 descriptors, against xargs, which needs no pipes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { OURS, PEERS } from '../contestants/index.mjs';
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { milliseconds, number, ratio } from '../table.mjs';

export const title = '1,000 commands at once, 512 descriptors';

const COUNT = 1000;
const LIMIT = 512;

/** Returns the milliseconds that `xargs -P parallel` takes to run `bash -c true` 1,000 times. */
async function xargs(parallel, shell, env) {
  const started = performance.now();
  const child = spawn('xargs', ['-P', `${parallel}`, '-n', '1', shell, '-c', 'true'], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(Array.from({ length: COUNT }, (_, i) => `${i}\n`).join(''));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`xargs: exit code ${code}`);
  return performance.now() - started;
}

/** Returns the fastest `-P` of xargs on this machine. */
async function bestParallel(shell, env, rounds) {
  const cores = availableParallelism();
  const candidates = [...new Set([cores, cores + 1, cores * 2, cores * 4])];
  const times = await interleave(candidates, rounds, (parallel) => xargs(parallel, shell, env));
  return candidates.reduce((best, next) => (median(times.get(next)) < median(times.get(best)) ? next : best));
}

export async function measure({ env, shell, short, ours }) {
  const lines = [];
  for (const name of [...ours, ...(short ? [] : PEERS)]) lines.push(await correctness(name, env));
  return ours.length === 0 ? lines : [...lines, ...(await throughput(env, shell, short))];
}

/** Gives each command its own output and exit code, and checks that each caller receives its own. */
async function correctness(name, env) {
  const commands = Array.from({ length: COUNT }, (_, i) => ({
    command: `echo out-${i}; exit ${i % 200}`,
    exitCode: i % 200,
    stdout: `out-${i}`,
  }));
  const what = `${name}, right of ${COUNT}`;
  const reach = name === OURS ? { min: COUNT } : null;
  try {
    const { right, error, leaked, total } = await withHost({ limit: LIMIT, quiet: name !== OURS }, async (host) => {
      await host.ask('latency', name, 3, env);
      return host.ask('crowd', name, commands, env);
    });
    const facts = [milliseconds(total), `${leaked} descriptors more than before`, error];
    return number(what, right, { reach, note: facts.filter(Boolean).join('; ') });
  } catch (error) {
    if (name === OURS) throw error;
    return number(what, 0, { note: error.message.split('\n')[0] });
  }
}

async function throughput(env, shell, short) {
  const parallel = await bestParallel(shell, env, short ? 1 : 3);
  const commands = Array.from({ length: COUNT }, () => ({ command: 'true', exitCode: 0, stdout: '' }));
  const times = await withHost({ limit: LIMIT }, async (host) => {
    await host.ask('latency', OURS, 3, env);
    return interleave(['xargs', OURS], short ? 3 : 7, async (name) => {
      if (name === 'xargs') return xargs(parallel, shell, env);
      const { total, right } = await host.ask('crowd', OURS, commands, env);
      if (right !== COUNT) throw new Error(`only ${right} of ${COUNT} commands were right`);
      return total;
    });
  });
  const [theirs, own] = [times.get('xargs'), times.get(OURS)];
  const paired = spread(theirs, own);
  const [fastest, best] = [Math.min(...theirs), Math.min(...own)];
  return [
    ratio(`${OURS}, throughput ÷ xargs -P ${parallel}`, median(theirs) / median(own), {
      reach: { min: 0.9 },
      note: `${milliseconds(median(own))} against ${milliseconds(median(theirs))}; rounds ${paired.low.toFixed(2)}–${paired.high.toFixed(2)}`,
    }),
    ratio(`${OURS}, best round ÷ xargs' best`, fastest / best, {
      reach: { min: 0.9 },
      note: `${milliseconds(best)} against ${milliseconds(fastest)}`,
    }),
  ];
}
