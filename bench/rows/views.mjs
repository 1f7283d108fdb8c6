// Views that are made while a command runs: the rate of a long stream, and the time that 50 KiB take more.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { withHost } from '../host/index.mjs';
import { interleave, median, spread } from '../stats.mjs';
import { megabytes, ratio, size, time } from '../table.mjs';
import { writeLog } from './log.mjs';

export const title = 'views';

const MIB = 2 ** 20;
const SMALL = 50 * 1024;
/** Runs of the small output per round. */
const RUNS = 20;

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const place = mkdtempSync(join(folder, 'agent-bash-bench-'));
  try {
    const streams = [];
    for (const kind of Object.keys(LOGS)) streams.push(...(await stream(place, kind, short)));
    return [...streams, ...(await small(place, short))];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Logs without failures. Most time is taken by lines with paths and words that may belong to a failure. */
const LOGS = {
  build: { write: writeSteps, reach: { min: 1 } },
  mixed: { write: (path, bytes) => writeLog(path, bytes, true), reach: null },
};

/** Writes the lines of a build, all of them different. */
function writeSteps(path, bytes) {
  const line = (at) => `[${at}/200000] compiled the module number ${(at * 7919) % 10_007} of the application\n`;
  const block = Buffer.from(Array.from({ length: 200_000 }, (_, at) => line(at)).join(''));
  const file = openSync(path, 'wx', 0o600);
  for (let left = bytes; left > 0; ) left -= writeSync(file, block, 0, Math.min(left, block.length));
  fsyncSync(file);
  closeSync(file);
}

/** A command that prints such a log. Its name does not tell that it prints the contents of a file. */
function printing(place, kind, bytes) {
  const name = `${kind}-${bytes}`;
  const log = join(place, `${name}.log`);
  LOGS[kind].write(log, bytes);
  const script = join(place, name);
  writeFileSync(script, `#!/bin/sh\nexec cat '${log}'\n`);
  chmodSync(script, 0o700);
  return `'${script}'`;
}

async function stream(place, kind, short) {
  // A larger output than a store keeps has no gaps.
  const bytes = (short ? 64 : 128) * MIB;
  const command = printing(place, kind, bytes);
  const measured = await interleave(['off', 'salient'], short ? 3 : 7, async (level, round) => {
    const dir = join(place, `${kind}-${level}-${round}`);
    mkdirSync(dir);
    const result = await withHost({}, (host) => host.ask('viewedStream', level, command, dir));
    rmSync(dir, { recursive: true });
    return result;
  });
  const totals = (level) => measured.get(level).map(({ total }) => total);
  const rate = bytes / 1e3 / median(totals('salient'));
  const { low, high } = spread(totals('off'), totals('salient'));
  const growth = (level) => Math.max(...measured.get(level).map((round) => round.growth));
  return [
    ratio(`${kind}, salient, rate ÷ 150 MB/s`, rate / 150, {
      reach: LOGS[kind].reach,
      note: `${rate.toFixed(0)} MB/s of ${megabytes(bytes)}`,
    }),
    ratio(`${kind}, salient, rate ÷ off`, median(totals('off')) / median(totals('salient')), {
      note: `rounds ${low.toFixed(2)}–${high.toFixed(2)}`,
    }),
    size(`${kind}, salient, resident growth`, growth('salient'), { note: `off: ${megabytes(growth('off'))}` }),
  ];
}

async function small(place, short) {
  const command = printing(place, 'mixed', SMALL);
  const measured = await withHost({}, (host) =>
    interleave(['off', 'lossless', 'salient'], short ? 3 : 15, async (level) =>
      median(await host.ask('viewed', level, command, RUNS, place)),
    ),
  );
  const off = median(measured.get('off'));
  return ['lossless', 'salient'].map((level) =>
    time(`${level}, 50 KiB more than off`, median(measured.get(level)) - off, {
      reach: { max: 3 },
      note: `off ${off.toFixed(2)} ms`,
    }),
  );
}
