// Programs in a terminal: a flood, the way of a key to the screen, and many terminals opened and closed.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withHost } from '../host/index.mjs';
import { interleave, median, quantile, spread } from '../stats.mjs';
import { megabytes, milliseconds, number, ratio, size, time } from '../table.mjs';
import { writeLog } from './log.mjs';

export const title = 'terminals';

export async function measure(context) {
  if (context.ours.length === 0) return [];
  return [...(await floods(context)), ...(await keys(context)), ...(await many(context))];
}

/** Lines with three colours each, none wider than the terminal's 80 columns. */
function colours(bytes) {
  const lines = [];
  for (let at = 0, number = 0; at < bytes; number++) {
    const line = `\x1b[32mok\x1b[39m   \x1b[1msuite ${number % 1000}\x1b[22m a test of something that passed \x1b[2m(${number % 90} ms)\x1b[22m\n`;
    lines.push(line);
    at += line.length;
  }
  return lines.join('');
}

async function floods({ baseline, short, folder }) {
  const bytes = short ? 16e6 : 100e6;
  const rounds = short ? 3 : 9;
  const place = mkdtempSync(join(folder, 'agent-bash-bench-'));
  try {
    const [log, coloured] = ['log', 'coloured'].map((name) => join(place, name));
    writeLog(log, bytes);
    writeFileSync(coloured, colours(bytes));
    return [
      ...(await flood('a log', log, { baseline, place, rounds, drawn: false, judged: true })),
      ...(await flood('a log, to a listener', log, { baseline, place, rounds, drawn: true })),
      ...(await flood('colours in each line', coloured, { baseline, place, rounds, drawn: false })),
    ];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Returns the expected output: cleaned for a file, or unchanged with the line ends of a terminal for a listener. */
function expected(text, drawn) {
  if (drawn) return text.length + text.split('\n').length - 1;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  const clean = text.replace(/\x1b\[\d+m/g, '').replace(/^.*\r/gm, '');
  return createHash('sha256').update(clean).digest('hex');
}

/** Writes a whole file to a terminal, against a loop that only reads the terminal. */
async function flood(name, file, { baseline, place, rounds, drawn, judged = false }) {
  const text = readFileSync(file, 'utf8');
  const whole = expected(text, drawn);
  const length = Buffer.byteLength(text);
  const command = `cat '${file}'`;
  const run = async (who) => {
    if (who === 'baseline') {
      const { total, bytes } = await baseline.terminal(command);
      if (bytes <= length) throw new Error(`the baseline read only ${bytes} bytes of a terminal`);
      return { total };
    }
    // A fresh process each time, so that the growth is that of one flood.
    return withHost({}, async (host) => {
      await host.ask('warmTerminals', 3);
      return host.ask('terminalOutput', command, place, drawn);
    });
  };
  await run('baseline');
  const measured = await interleave(['baseline', 'ours'], rounds, run);
  const totals = (who) => measured.get(who).map(({ total }) => total);
  const [base, own] = [totals('baseline'), totals('ours')];
  const paired = spread(base, own);
  const speed = (ms) => `${(length / 1e3 / ms).toFixed(0)} MB/s`;
  const worst = (key) => Math.max(...measured.get('ours').map((round) => round[key]));
  const reach = judged ? { min: 0.7 } : null;
  return [
    ratio(`${name}, rate ÷ baseline`, median(base) / median(own), {
      reach,
      note: `${speed(median(own))} of ${megabytes(length)} against ${speed(median(base))}; rounds ${paired.low.toFixed(2)}–${paired.high.toFixed(2)}`,
    }),
    ratio(`${name}, best round ÷ baseline's best`, Math.min(...base) / Math.min(...own), {
      reach,
      note: `${speed(Math.min(...own))} against ${speed(Math.min(...base))}`,
    }),
    number(
      `${name}, rounds that were not complete`,
      measured.get('ours').filter(({ written }) => written !== whole).length,
      {
        reach: { max: 0 },
        note: `of ${rounds}`,
      },
    ),
    size(`${name}, resident growth`, worst('growth'), {
      reach: { max: 16e6 },
      note: `the highest of all rounds; event-loop delay p99 ${milliseconds(worst('delayP99'))}`,
    }),
  ];
}

const SHELL = "PS1='$ ' exec bash --norc --noprofile -i";

async function keys({ short }) {
  const count = short ? 100 : 600;
  const lines = [];
  for (const [name, command, prompt] of [
    ['a key to its echo on the screen, `cat`', 'cat', ''],
    ['the same, the line editor of bash', SHELL, '$ '],
  ]) {
    const times = await withHost({}, async (host) => {
      await host.ask('keystrokes', command, prompt, 50);
      return host.ask('keystrokes', command, prompt, count);
    });
    lines.push(
      time(`${name}, p50`, median(times), {
        reach: { max: 1 },
        note: `p95 ${milliseconds(quantile(times, 0.95))}, longest ${milliseconds(Math.max(...times))} of ${count} keys`,
      }),
    );
  }
  return lines;
}

async function many({ short }) {
  const count = short ? 100 : 500;
  const { before, after, wrong } = await withHost({}, (host) => host.ask('manyTerminals', count));
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${count} terminals: ${[...new Set(wrong)].join('; ')}`);
  const more = (what, key) =>
    number(
      `${count} terminals, half of them failing: ${what} more than before`,
      Math.max(0, after[key] - before[key]),
      {
        reach: { max: 0 },
        note: `${before[key]} before, ${after[key]} after`,
      },
    );
  return [
    more('descriptors', 'descriptors'),
    more('descriptors of helpers', 'helperDescriptors'),
    more('threads', 'threads'),
    more('processes', 'processes'),
    more('zombies', 'zombies'),
  ];
}
