import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Canaries } from './canaries.ts';
import { memoryOf, type Site, stateOf, wasSignalled } from './site.ts';

/** An observation that the test makes from outside the world. */
export type Sees = (site: Site, canaries: Canaries) => boolean | Promise<boolean>;

/** One attack. Its script is bash. The variables of `site()` name its targets. */
export interface Attack {
  name: string;
  script: string;
  /** How the test knows that it succeeded. Default: `changed('out')`. */
  sees?: Sees;
  /** Options besides `{ profile: 'workspace', hide: [HIDDEN] }`. */
  confine?: (site: Site) => object;
  /** The only user who can make it without confinement. Default: all can. */
  as?: 'root' | 'ordinary';
  /** Whether it needs a process of the host. */
  victim?: true;
  /** Whether `work` is a git repository. */
  repository?: true;
  /** The preparation by the host. */
  before?: (site: Site, canaries: Canaries) => unknown;
  after?: (site: Site) => unknown;
  /** Whether a kernel may lack a feature that the attack needs. If the kernel reports this, the test is skipped. */
  optional?: true;
  /** A program that it needs besides the usual ones. */
  needs?: string;
  /** The feature that this machine lacks for it, if any. */
  lacks?: string | undefined;
}

/** Anything below that name of the site differs from before. */
export const changed =
  (name = 'out'): Sees =>
  ({ path, before }) => {
    const top = join(path, name);
    const old = [...before].filter(([name]) => name === top || name.startsWith(`${top}/`));
    const now = stateOf(top);
    return old.length !== now.size || old.some(([name, state]) => now.get(name) !== state);
  };

/** The secret is in the output or in a file of the command's directory. */
export const leaked: Sees = ({ raid, secret, work }) =>
  `${raid.stdout}${raid.stderr}`.includes(secret) || [...stateOf(work)].some((entry) => entry.join().includes(secret));

/** A server of the host received the token. */
export const reached: Sees = async ({ token }, canaries) => {
  // The token may have been sent before the command ended, and not been read by this process yet.
  for (let turn = 0; turn < 20 && !canaries.heard(token); turn++) await new Promise((go) => setImmediate(go));
  return canaries.heard(token);
};

/** The command reports its success. */
export const said: Sees = ({ raid }) => raid.stdout.includes('PWNED');

export const signalled: Sees = (site) => wasSignalled(site);

export const overwritten: Sees = ({ victim, secret }) => victim !== null && memoryOf(victim, secret.length) !== secret;

/** A path exists on the host. `SHARED` is a name that only this attack uses. */
export const exists =
  (path: string): Sees =>
  ({ env, path: top }) =>
    existsSync(join(path.startsWith('/') ? '/' : top, path.replace('SHARED', env.SHARED ?? '')));

/** A file of the site has such a mode bit. */
export const hasMode =
  (name: string, bits: number): Sees =>
  ({ path }) => {
    const found = lstatSync(join(path, name), { throwIfNoEntry: false });
    return found !== undefined && (found.mode & bits) !== 0;
  };
