// What a record costs beside the floor: a listener that lets every call go on. Times are in milliseconds.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../built.mjs';
import { recorded, timed } from './recorded.mjs';

const FLOOR = fileURLToPath(new URL('../floor/floor.c', import.meta.url));

/** What a command does with `count` files, before it and in it. `before` is no part of the time. */
const ACTS = {
  make: { before: () => '', command: (floor, count) => `${floor} make files ${count}` },
  'remove what was there': {
    before: (floor, count) => `${floor} make files ${count}`,
    command: (floor) => `${floor} remove files`,
  },
  'remove what it made': {
    before: () => '',
    command: (floor, count) => `${floor} make files ${count}; ${floor} remove files`,
  },
  'cp -r': { before: (floor, count) => `${floor} make from ${count}`, command: () => 'cp -r from files' },
  'rm -rf': { before: (floor, count) => `${floor} make files ${count}`, command: () => 'rm -rf files' },
  'tar x': {
    before: (floor, count) => `${floor} make files ${count}; tar cf from.tar files; rm -rf files`,
    command: () => 'tar xf from.tar',
  },
};

/** Does an act in one way, in a new directory below `folder`. Returns its time. */
async function pricedChange(way, act, count, folder) {
  const floor = build(FLOOR, ['cc', '-O2']);
  const cwd = realpathSync(mkdtempSync(join(folder, 'agent-bash-priced-')));
  const { before, command } = ACTS[act];
  const text = command(floor, count);
  try {
    execFileSync('bash', ['-c', before(floor, count)], { cwd });
    if (way !== 'floor') return (await recorded(way, text, cwd))[0];
    return (await timed(async () => execFileSync(floor, ['watch', 'bash', '-c', text], { cwd })))[0];
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

export const prices = { pricedChange };
