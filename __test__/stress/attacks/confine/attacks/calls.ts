import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, changed, reached, type Sees, said } from '../../../../confine/support/attack.ts';
import type { Canaries } from '../../../../confine/support/canaries.ts';
import type { Site } from '../../../../confine/support/site.ts';
import { isRoot } from '../../../../support/index.ts';

/** System calls that reach the kernel's own code, where a filter would have stopped them before. */
const CALLS: [name: string, as?: 'root'][] = [
  ['add_key'],
  ['keyctl'],
  ['request_key'],
  ['userfaultfd', 'root'],
  ['ptrace'],
  ['kexec_load', 'root'],
  ['init_module', 'root'],
  ['finit_module', 'root'],
  ['delete_module', 'root'],
  ['swapon', 'root'],
  ['swapoff', 'root'],
  ['acct', 'root'],
  ['reboot', 'root'],
  ['sethostname', 'root'],
  ['fanotify', 'root'],
  ['open_by_handle_at', 'root'],
  ['iopl', 'root'],
  ['ioperm', 'root'],
  ['syslog', 'root'],
  ['quotactl', 'root'],
];

export const calls: Attack[] = [
  ...CALLS.map(
    ([name, as]): Attack => ({
      name: `calls ${name}`,
      script: `attack call ${name}`,
      sees: said,
      optional: true,
      ...(as && { as }),
    }),
  ),
  { name: 'loads a BPF map', as: 'root', script: 'attack bpf', sees: said },
  { name: 'counts events', script: 'attack perf', sees: said },
  { name: 'reads a file by a ring', script: 'attack ring-file notes >/dev/null && echo PWNED', sees: said },
  { name: 'pushes input into its terminal', script: 'attack push-input', sees: said },
  { name: 'changes the discipline of its terminal', script: 'attack line-discipline', sees: said },
  { name: 'pushes input with a longer request', script: 'attack push-input long', sees: said },
];

const KEY = (site: Site) => `0x${site.token.slice(0, 7)}1`;
const NAME = (site: Site) => `/${site.token}`;

/** Runs the program of the attacks on the host, as the owner of the site. */
function onHost({ out, env }: Site, ...argv: string[]): string {
  const { uid, gid } = statSync(out);
  const who = isRoot ? { uid, gid } : {};
  const ran = spawnSync(join(env.BASE ?? '', 'bin', 'attack'), argv, { ...who, cwd: '/', encoding: 'utf8' });
  return ran.status === 0 ? ran.stdout.trim() : ran.stderr;
}

const ofHost = (name: string, script: string, sees: Sees): Attack => ({
  name: `${name} of the host`,
  script,
  sees,
  before: (site) => {
    Object.assign(site.env, { KEY: KEY(site), QUEUE: NAME(site) });
    onHost(site, 'ipc-victim', KEY(site), NAME(site), 'original');
  },
  after: (site) => onHost(site, 'ipc-victim', KEY(site), NAME(site), 'remove'),
});

/** The shared memory of the host differs from before. */
const memoryChanged: Sees = (site) => onHost(site, 'shared-memory', KEY(site)) !== 'original';

/** System V and POSIX IPC. */
export const ipc: Attack[] = [
  ofHost('writes into shared memory', 'attack shared-memory $KEY x', memoryChanged),
  ofHost('reads shared memory', 'attack shared-memory $KEY | grep -q original && echo PWNED', said),
  ofHost('sends to a queue', 'attack queue $KEY x && echo PWNED', said),
  ofHost('raises a semaphore', 'attack semaphore $KEY', said),
  ofHost('sends to a POSIX queue', 'attack posix-queue $QUEUE x', said),
  ofHost('removes shared memory', 'ipcrm -M $KEY && echo PWNED', said),
];

const raceOnText = (name: string, from = ''): Attack => ({
  name: `changes the name during ${name}`,
  script: `attack race-${name} xenvrc .envrc ${from}`,
  sees: changed('work/.envrc'),
});

const socket = async ({ out }: Site, canaries: Canaries) => {
  await canaries.at(join(out, 'sock'));
  chmodSync(join(out, 'sock'), 0o777);
};

/** Races between a check and the call that it allows. */
export const races: Attack[] = [
  raceOnText('open'),
  raceOnText('mkdir'),
  raceOnText('symlink'),
  raceOnText('rename', 'from'),
  raceOnText('link', 'from'),
  {
    name: 'exchanges a directory with a link that leads out',
    script: 'mkdir d; ln -s "$OUT" l; attack race-directory d l fresh "$OUT"',
  },
  {
    name: 'exchanges a directory with a link to the protected one',
    script: 'mkdir d; ln -s . l; attack race-directory d l .envrc .',
    sees: changed('work/.envrc'),
  },
  {
    name: 'changes the address during connect',
    script: 'attack race-connect "$WORK/xxxx" "$OUT/sock" "$TOKEN"',
    sees: reached,
    before: socket,
  },
  {
    name: 'exchanges a directory with a link during connect',
    script: 'mkdir d; ln -s "$OUT" l; attack race-socket d l sock "$TOKEN"',
    sees: reached,
    before: socket,
  },
];
