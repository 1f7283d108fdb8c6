/** What npm/machines.json says of each platform: its level, and the table of docs/platforms.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, platforms } from '../platform.mjs';
import { root } from '../process.mjs';
import { PARTS } from './parts.mjs';

const RECORD = join(root, 'npm', 'machines.json');

/** The level of each platform, for the addon's loader and `doctor`. */
const LEVELS = join(root, 'npm', 'levels.json');

/** The machine on which the tests of a platform run. The gate runs those of Linux x64 with glibc. */
const MACHINE_OF = { 'linux-arm64-gnu': 'arm64', 'linux-x64-musl': 'musl-x64', 'linux-arm64-musl': 'musl-arm64' };

/** The rows that `npm run machines -- --record` wrote for this version of the package. */
export function recorded() {
  const { version, rows } = JSON.parse(readFileSync(RECORD, 'utf8'));
  return version === manifest().version ? rows : [];
}

/** Records rows in the place of those of the same machines and parts, in the order of the machines. */
export function record(rows, order) {
  const isNew = (row) => rows.some(({ machine, part }) => machine === row.machine && part === row.part);
  const all = [...recorded().filter((row) => !isNew(row)), ...rows];
  const parts = Object.keys(PARTS);
  const place = ({ machine, part }) => order.indexOf(machine) * 100 + parts.indexOf(part);
  all.sort((one, other) => place(one) - place(other));
  writeFileSync(RECORD, `${JSON.stringify({ version: manifest().version, rows: all }, null, 2)}\n`);
}

/**
 * The level of a platform: 'tested' if each part of the tests passed on its machine in this version, else 'built'. A
 * platform that is in no list is refused.
 */
export function levelOf(platform) {
  if (platform === 'linux-x64-gnu') return 'tested';
  const rows = recorded().filter(({ machine }) => machine === MACHINE_OF[platform]);
  const passed = (part) => rows.some((row) => row.part === part && row.passed > 0 && row.failed === 0);
  return Object.keys(PARTS).every(passed) ? 'tested' : 'built';
}

/** The text of npm/levels.json. */
export const levelsText = () =>
  `${JSON.stringify(Object.fromEntries(platforms().map((platform) => [platform, levelOf(platform)])), null, 2)}\n`;

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** Reasons for a reader: the files in which tests failed, and what else there is. The record has the messages. */
function shortened(why) {
  const counts = new Map();
  for (const reason of why) {
    const short = /^__test__\/(.+)\.test\.ts: /.exec(reason)?.[1] ?? reason;
    counts.set(short, (counts.get(short) ?? 0) + 1);
  }
  return [...counts].map(([short, count]) => cell(count > 1 ? `${short} (${count})` : short)).join('; ');
}

/** The table of docs/platforms.md: a line for each machine and part. */
function recordedTable() {
  const lines = recorded().map(({ machine, part, passed, failed, skipped, why, seconds }) =>
    `| ${[machine, part, passed, failed, skipped, `${Math.round(seconds)} s`, shortened(why)].join(' | ')} |`.replace(
      '|  |',
      '| |',
    ),
  );
  return [
    '| machine | part | passed | failed | skipped | time | why |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

const PAGE = join(root, 'docs', 'platforms.md');

/** The text of docs/platforms.md with the recorded levels and rows in it. */
export function pageText(text = readFileSync(PAGE, 'utf8')) {
  const levels = text.replace(
    /^(\| `[^`]+` \| `([^`]+)` \|.*\|) \w+ \|$/gm,
    (_, start, platform) => `${start} ${levelOf(platform)} |`,
  );
  return levels.replace(
    /(<!-- machines: [^\n]* -->\n\n).*?(\n<!-- end -->)/s,
    (_, start, end) => start + recordedTable() + end,
  );
}

/** Writes npm/levels.json and docs/platforms.md. */
export function writeLevels() {
  writeFileSync(LEVELS, levelsText());
  writeFileSync(PAGE, pageText());
}
