/** Tries packed packages on machines: in an empty project, and as targets of one another. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { need } from '../machines/debian.mjs';
import { SHELLS } from '../machines/guest.mjs';
import { MACHINES } from '../machines/machines.mjs';
import { rowIn } from '../machines/parts.mjs';
import { here, platforms } from '../platform.mjs';
import { Failed, npm, root, run } from '../process.mjs';
import { NONE } from '../runners.mjs';
import { ENDED, ofTarget, report } from './machine/checks.mjs';

/** The port of the shells of a guest. */
const PORT = 7001;

/** Lays out what is tried on a platform: the packages, npm, the README and the scripts. */
async function layOut(place, tarballs, platform) {
  mkdirSync(place, { recursive: true });
  cpSync(join(root, 'scripts', 'release', 'machine'), place, { recursive: true });
  const others = platforms().filter((one) => one !== platform);
  const isTried = (path) => !others.some((one) => path.includes(`-${one}-`));
  cpSync(tarballs, join(place, 'tarballs'), { recursive: true, filter: isTried });
  cpSync(join(root, 'README.md'), join(place, 'README.md'));
  const cli = npm[1] ?? (await run('bash', ['-c', 'realpath "$(command -v npm)"'], { output: 'keep' })).stdout.trim();
  cpSync(dirname(dirname(cli)), join(place, 'npm'), { recursive: true });
}

/**
 * The rows in the lines that a machine has printed, with one that failed if it has not come to its end, or for the
 * reason that is given.
 */
function rowsIn(lines, failure) {
  const rows = lines.map(rowIn).filter(Boolean);
  if (failure === undefined && lines.some((line) => line.includes(ENDED))) return rows;
  return [...rows, { part: 'all', ...NONE, failed: 1, why: [failure ?? 'it was not tried to the end'], seconds: 0 }];
}

/** Tries the packages on this machine. Resolves to the rows. */
function triedHere(place) {
  const words = [join(place, 'tryout.mjs'), join(place, 'project')];
  const child = spawn(process.execPath, words, { cwd: place, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = [];
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      console.log(`${here} ${line}`);
      lines.push(line);
    });
    child.once('error', reject).once('close', () => resolve(rowsIn(lines)));
  });
}

/** Uses a guest as a target from here, and tells it that this is done. */
async function triedAcross(place, arch) {
  const link = [process.execPath, join(place, 'link.mjs'), '127.0.0.1', String(PORT)];
  const row = await report(`target of ${process.arch}`, ofTarget(join(place, 'project'), link, { arch }));
  await run(link[0], [...link.slice(1), 'touch', '/release/done'], { output: 'keep' });
  return row;
}

/** Tries the packages on another machine, and between that and this one where they are of different kinds. */
async function triedOn(name, place, tarballs) {
  const { platform, start } = MACHINES[name];
  const [, arch] = platform.split('-');
  const peer = arch !== process.arch && { arch: process.arch, link: [SHELLS.host, String(SHELLS.port)], port: PORT };
  const shell = join(place, 'shell');
  const login = `exec env -i PATH='${process.env.PATH}' HOME='${process.env.HOME}' bash -s 2>/dev/null`;
  writeFileSync(shell, `#!/bin/sh\n${login}\n`, { mode: 0o755 });
  let across;
  const lines = [];
  let failure;
  const what = {
    lay: (tree) => layOut(join(tree, 'release'), tarballs, platform),
    job: `${peer ? `AGENT_BASH_PEER='${JSON.stringify(peer)}' ` : ''}node /release/tryout.mjs /release/project\n`,
    ...(peer && { network: { port: PORT, shell } }),
    onLine(line) {
      console.log(`${name.padEnd(10)} ${line}`);
      lines.push(line);
      if (peer && line.includes('SERVING')) across ??= triedAcross(place, arch);
    },
  };
  try {
    await start(name, what);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    failure = error.message;
  }
  const rows = rowsIn(lines, failure);
  if (across) rows.push(await across);
  return rows.map((row) => ({ machine: name, ...row }));
}

/**
 * Tries the packages of a directory on this machine, and on others by their names. Resolves to rows `{ machine, part,
 * passed, failed, skipped, why, seconds }`.
 */
export async function tried(tarballs, names) {
  const place = mkdtempSync(join(tmpdir(), 'agent-bash-release-'));
  try {
    await layOut(place, tarballs, here);
    // As root it is a target in roots of its own, of which some have busybox.
    if (process.getuid() === 0) await need({ busybox: 'busybox-static' });
    const rows = (await triedHere(place)).map((row) => ({ machine: here, ...row }));
    for (const name of names) rows.push(...(await triedOn(name, place, tarballs)));
    return rows;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
