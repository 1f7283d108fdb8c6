/** The platforms that have a package of their own, by napi's names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/** package.json as it is now. */
export const manifest = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const names = {
  'x86_64-unknown-linux-gnu': 'linux-x64-gnu',
  'aarch64-unknown-linux-gnu': 'linux-arm64-gnu',
  'x86_64-unknown-linux-musl': 'linux-x64-musl',
  'aarch64-unknown-linux-musl': 'linux-arm64-musl',
  'x86_64-apple-darwin': 'darwin-x64',
  'aarch64-apple-darwin': 'darwin-arm64',
};

/** All platforms of package.json's `napi.targets`. */
export const platforms = () => manifest().napi.targets.map((target) => names[target]);

function libc() {
  if (process.platform !== 'linux') return '';
  return process.report.getReport().header.glibcVersionRuntime ? '-gnu' : '-musl';
}

/** The platform of this machine. */
export const here = `${process.platform}-${process.arch}${libc()}`;

/** The target triple of a platform. */
export const targetOf = (platform) => Object.keys(names).find((name) => names[name] === platform);

/** The target triple of this machine, as cargo names it. */
export const triple = targetOf(here);

/** The newest glibc that a released binary may need: the one that Node itself needs. */
export const GLIBC = '2.28';

/** The two binaries of a platform's package. */
export const addon = (platform) => `agent-bash.${platform}.node`;
export const supervisor = 'agent-bash-supervisor';

/** The program that runs commands on other machines, built on Linux alone, and the package that has it. */
export const hostProgram = 'agent-bash-host';

/** The machines of that package, as `uname -m` names them, by their processors. */
export const hostMachines = { x64: 'x86_64', arm64: 'aarch64' };

/** The list of its programs, in the main package. */
export const hostList = 'host-programs.json';
