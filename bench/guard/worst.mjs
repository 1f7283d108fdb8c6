/**
 * `node bench/guard/worst.mjs [--seconds N] [--seed N] [ENGINE]`: looks for the texts of 8 KiB that the engines take
 * longest for, and counts the instructions for a byte of them. The texts stay in `target/worst`.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Failed, isMain, main, root, run } from '../../scripts/process.mjs';
import { instructions } from './count.mjs';
import { buildPure } from './guard.mjs';

/** Most instructions for a byte. A search finds about half of that, and found 100 times as many before it was bound. */
const MOST = {
  analyze: 80_000,
  highlight: 80_000,
  redact: 80_000,
  sanitize: 10_000,
  view: 10_000,
  'view without loss': 50_000,
  evidence: 40_000,
};

/** Throws `Failed` if an engine takes more for a text that a search of some seconds comes upon. */
export async function worst({ seconds = 20, seed = randomInt(2 ** 31), only = '', ...options } = {}) {
  const guard = await buildPure(options);
  const kept = { output: 'keep', ...options };
  const { stdout } = await run(guard, ['worst'], kept);
  const place = join(root, 'target', 'worst');
  mkdirSync(place, { recursive: true });
  const wrong = [];
  for (const engine of stdout
    .trim()
    .split('\n')
    .filter((engine) => engine.includes(only))) {
    const found = await run(guard, ['worst', engine, `${seconds}`, `${seed}`], kept);
    const file = join(place, engine.replaceAll(' ', '-'));
    writeFileSync(file, found.stdout);
    const [once, twice] = await Promise.all(
      ['1', '2'].map((count) => instructions([guard, 'text', engine, count, file])),
    );
    const each = Math.round((twice.count - once.count) / readFileSync(file).length);
    const line = `${engine}: ${each} instructions for a byte, at most ${MOST[engine]} (seed ${seed})`;
    console.log(line);
    if (!(each <= MOST[engine])) wrong.push(line);
  }
  if (wrong.length > 0) throw new Failed(wrong.join('\n'));
}

if (isMain(import.meta)) {
  const options = { seconds: { type: 'string' }, seed: { type: 'string' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const numbers = Object.entries(values).map(([name, value]) => [name, Number(value)]);
  await main(() => worst({ ...Object.fromEntries(numbers), only: positionals[0] }));
}
