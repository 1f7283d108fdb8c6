/**
 * Writes package-lock.json anew: `npm run relock`, after a change of dependencies.
 *
 * npm leaves a platform package out of the lock when the registry at hand does not carry it, and `npm ci` then refuses that lock
 * everywhere. Such packages are added by hand here: pinned to the exact version their parent asks for, without a checksum, and never
 * fetched where the platform is another one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run } from './process.mjs';

const file = join(root, 'package-lock.json');
const platforms = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'sunos', 'win32'];
const machines = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** What a platform package's name says about where it is for, in the words of package.json. */
function platformOf(name) {
  const words = name.split('/').at(-1).split('-');
  const os = words.filter((word) => platforms.includes(word));
  const cpu = words.filter((word) => machines.includes(word));
  const libc = words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : [];
  return { ...(cpu.length && { cpu }), ...(os.length && { os }), ...(libc.length && { libc }) };
}

await run(npm, ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved']);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (lock.packages[`node_modules/${name}`] || lock.packages[`${path}/node_modules/${name}`]) continue;
    if (!/^\d/.test(version)) throw new Error(`${name}: the range ${version} cannot be pinned by hand`);
    lock.packages[`node_modules/${name}`] = { version, ...(entry.dev && { dev: true }), optional: true, ...platformOf(name) };
    added.push(name);
  }
}
const { '': top, ...rest } = lock.packages;
lock.packages = { '': top, ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => a.localeCompare(b, 'en'))) };
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json written; ${added.length} platform packages pinned without a checksum`);
