// The log of the flood: lines of about 80 bytes, every tenth with colour or a progress line.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

const BLOCK = 2 ** 24;
const WORDS = 'compiling linking resolved module cache warning src/index.ts node_modules at line error test ok'.split(
  ' ',
);

/** Generates numbers below `limit`, the same on every machine. */
function numbers(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function line(number, random, words) {
  let text = `${number} `;
  while (text.length < 60 + random(20)) text += `${words[random(words.length)]} ${random(1000)} `;
  if (number % 20 === 0) return `\x1b[32m✓\x1b[39m ${text}\x1b[2m(${random(900)} ms)\x1b[22m\n`;
  if (number % 20 === 10) return `downloading 10%\rdownloading 55%\rdownloading 100% ${text.slice(0, 30)}\n`;
  return `${text}\n`;
}

function block(words) {
  const random = numbers(7);
  const lines = [];
  for (let bytes = 0, number = 1; bytes < BLOCK; number++) {
    const next = Buffer.from(line(number, random, words));
    lines.push(next);
    bytes += next.length;
  }
  return Buffer.concat(lines);
}

/**
 * Writes a file of exactly `bytes` and syncs it to the disk, so that no write-back disturbs the measurement. `isQuiet`:
 * no line reports a failure.
 */
export function writeLog(path, bytes, isQuiet = false) {
  const text = block(isQuiet ? WORDS.filter((word) => !['error', 'warning'].includes(word)) : WORDS);
  const file = openSync(path, 'wx', 0o600);
  for (let left = bytes; left > 0; ) left -= writeSync(file, text, 0, Math.min(left, text.length));
  fsyncSync(file);
  closeSync(file);
}
