import { BashError, type BashOptions, bash, type ConfineOptions, type Target } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { PLAIN } from '../../core/option-names.ts';
import { checkTarget } from '../../sandbox/base.ts';
import { createSandboxSession } from '../../sandbox/session/session.ts';
import type { DisposableSandboxSession } from '../../sandbox/session/types.ts';
import { checkOptionNames, innerOptions } from '../../tool/options.ts';
import { noPlace } from '../shared/needs.ts';
import { checkPorts, exposing } from '../shared/ports.ts';
import { type Reached, reachedUnder } from './policy.ts';
import type { Setup } from './session.ts';
import type { HarnessSandboxOptions } from './types.ts';

/** The private home of a session, in its folder. */
export const HOME = '.home';

/** What all sessions of a provider have in common. */
export interface Common extends Pick<Setup, 'ports' | 'network' | 'networkUnder'> {
  dir: string | undefined;
  /** The machine of the sessions; left out: this one. */
  target: Target | undefined;
  /** Makes a session in a folder. Throws `ERR_BASH_CONFINEMENT` for hosts and paths that cannot be. */
  open(folder: string, network: Reached, ports: readonly number[]): DisposableSandboxSession;
}

/** Checks the options of a provider. */
export function settingOf(options: HarnessSandboxOptions): Common {
  const more = { dir: PLAIN, ports: PLAIN, networkPolicy: PLAIN };
  checkOptionNames('harnessSandbox', options, { ...innerOptions().bash, ...more });
  const { dir, ports = [], networkPolicy, cwd, confine = 'workspace', ...given } = options;
  const inner = innerOf(bash);
  inner.check(':', { ...given, confine });
  checkTarget(given.target);
  const { target } = given;
  const place = { ...given, target };
  if (dir !== undefined && (typeof dir !== 'string' || dir === '')) throw inner.invalid('dir', dir, 'a path');
  checkPorts(ports);
  if (cwd !== undefined) throw noPlace('cwd', 'each session has a folder of its own, in `dir`');
  if (confine === 'off') {
    if (networkPolicy !== undefined && reachedUnder(networkPolicy, undefined) !== 'full') {
      throw new BashError('ERR_BASH_UNSUPPORTED', 'networkPolicy cannot be held with confine: "off"');
    }
    const open = (folder: string) => createSandboxSession({ ...place, confine, ...placeOf(folder) });
    return { dir, target, ports, network: 'full', networkUnder: null, open };
  }
  const own: ConfineOptions = typeof confine === 'string' ? { profile: confine } : confine;
  const listed = typeof own.network === 'object' ? own.network.allow.length > 0 : own.network !== undefined;
  if (networkPolicy && listed) throw inner.invalid('confine.network', own.network, 'left out beside networkPolicy');
  const confined = (network: Reached, exposed: readonly number[]) =>
    exposing({ ...own, network, expose: undefined }, exposed);
  /** Throws `ERR_BASH_CONFINEMENT` for what cannot be. Paths of a target are its own: its first command tells. */
  const check = (confine: BashOptions['confine'], folder: string) => {
    if (!target) inner.reachOf({ ...given, confine }, folder);
    else if (typeof confine === 'object') inner.reachOf({ confine: { network: confine.network } }, process.cwd());
  };
  return {
    dir,
    target,
    ports: [...new Set([...ports, ...(own.expose ?? [])])],
    network: networkPolicy ? reachedUnder(networkPolicy, own.network) : (own.network ?? 'full'),
    networkUnder(policy, folder) {
      const network = reachedUnder(policy, own.network);
      check(confined(network, ports), folder);
      return network;
    },
    open(folder, network, exposed) {
      const set = confined(network, exposed);
      check(set, folder);
      return createSandboxSession({ ...place, confine: set, ...placeOf(folder) });
    },
  };
}

function placeOf(folder: string) {
  return { cwd: folder, home: `${folder}/${HOME}` };
}
