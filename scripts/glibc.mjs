/**
 * `node scripts/glibc.mjs FILE…` prints the newest glibc that each binary needs, and fails if that is newer than
 * `GLIBC`. Needs readelf, which reads the binaries of any machine.
 */
import { resolve } from 'node:path';
import { GLIBC } from './platform.mjs';
import { Failed, isMain, main, run } from './process.mjs';

/** The newest version of glibc in the output of `readelf --version-info`. `null`: the binary needs none. */
export function newestOf(text) {
  const versions = [...text.matchAll(/\bGLIBC_([\d.]+)/g)].map(([, version]) => version.split('.').map(Number));
  const newest = versions.sort((one, other) => one[0] - other[0] || one[1] - other[1]).at(-1);
  return newest?.join('.') ?? null;
}

/** Whether a version is at most `GLIBC`. */
export const isOldEnough = (version) => {
  const [[major, minor], [most, least]] = [version, GLIBC].map((one) => one.split('.').map(Number));
  return major < most || (major === most && minor <= least);
};

if (isMain(import.meta)) {
  await main(async () => {
    const newer = [];
    for (const file of process.argv.slice(2)) {
      const { stdout } = await run('readelf', ['--version-info', '--wide', resolve(file)], { output: 'keep' });
      const newest = newestOf(stdout);
      console.log(`${file}: glibc ${newest ?? 'none'}`);
      if (newest !== null && !isOldEnough(newest)) newer.push(`${file} needs glibc ${newest}`);
    }
    if (newer.length > 0) throw new Failed(`${newer.join(', ')}: build them where glibc is ${GLIBC} or older`);
  });
}
