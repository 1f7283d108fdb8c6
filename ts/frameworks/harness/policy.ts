import { BlockList, isIP } from 'node:net';
import { BashError, type ConfineNetwork, type ConfineOptions } from 'agent-bash';
import type { HarnessV1NetworkPolicy } from './types.ts';

/** The hosts that commands reach. */
export type Reached = ConfineOptions['network'];

/** Addresses with a common beginning. */
interface Range {
  address: string;
  family: 'ipv4' | 'ipv6';
  prefix: number;
  /** The number of bits in which they differ. */
  free: number;
}

/** Where no name of an allow list leads to, unless `hosts` maps it there. */
const NEVER = ['10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
  .concat('::1/128', 'fc00::/7', 'fe80::/10')
  .flatMap((range) => rangeOf(range) ?? []);

/**
 * Returns the hosts that a policy allows. Addresses by name are those of `given`. Throws `ERR_BASH_INVALID_ARG` for a
 * policy that cannot be read, and `ERR_BASH_UNSUPPORTED` for `deniedCIDRs` that cannot be held.
 */
export function reachedUnder(policy: HarnessV1NetworkPolicy, given: Reached): Reached {
  if (policy?.mode === 'allow-all') return 'full';
  if (policy?.mode === 'deny-all') return 'none';
  if (policy?.mode !== 'custom') throw invalid('its mode is none of allow-all, deny-all, custom');
  const { allowedHosts = [], allowedCIDRs = [], deniedCIDRs = [] } = policy;
  for (const [name, list] of Object.entries({ allowedHosts, allowedCIDRs, deniedCIDRs })) {
    if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string')) {
      throw invalid(`${name} is no array of strings`);
    }
  }
  const denied = deniedCIDRs.map((entry) => {
    const range = rangeOf(entry);
    if (range === null) throw invalid(`deniedCIDRs: "${entry}" is no CIDR`);
    if (NEVER.some((never) => isWithin(range, never))) return range;
    throw unsupported(`deniedCIDRs: "${entry}" is beyond private, loopback and link-local addresses`);
  });
  const hosts = (typeof given === 'object' && given.hosts) || {};
  return without(denied, { allow: [...allowedHosts, ...allowedCIDRs], hosts });
}

/** Takes denied addresses out of what is allowed. */
function without(denied: Range[], { allow, hosts = {} }: ConfineNetwork): ConfineNetwork {
  const stays = (entry: string) => {
    const range = rangeOf(entry);
    if (range === null || denied.some((none) => isWithin(range, none))) return range === null;
    if (!denied.some((none) => isWithin(none, range))) return true;
    throw unsupported(`deniedCIDRs: a part of "${entry}" is denied`);
  };
  const mapped = Object.entries(hosts).filter(([, address]) => stays(address));
  return { allow: allow.filter(stays), hosts: Object.fromEntries(mapped) };
}

/** Returns the addresses of an entry; `null` if it has a name. */
function rangeOf(entry: string): Range | null {
  const host = /^\[(.*)\]/.exec(entry)?.[1] ?? (entry.split(':').length === 2 ? entry.replace(/:.*/, '') : entry);
  const [address = '', prefix] = host.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const length = Number(prefix ?? bits);
  if (bits === 0 || !(length >= 0 && length <= bits)) return null;
  return { address, family: bits === 32 ? 'ipv4' : 'ipv6', prefix: length, free: bits - length };
}

/** Returns whether a range has all addresses of another one. */
function isWithin({ address, family, free }: Range, range: Range): boolean {
  const list = new BlockList();
  list.addSubnet(range.address, range.prefix, range.family);
  return free <= range.free && list.check(address, family);
}

function invalid(why: string): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', `network policy: ${why}`);
}

function unsupported(what: string): BashError {
  return new BashError('ERR_BASH_UNSUPPORTED', `network policy: ${what}, which cannot be held beside an allow list`);
}
