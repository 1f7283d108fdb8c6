import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConnectOptions, TargetAddress } from 'agent-bash';
import { folder, hasProgram, isRoot, testNeeding } from '../../support/index.ts';
import { clientConfig, makeKeys, serverLines, writeLines } from '../../support/ssh.ts';
import { runIn, world } from './world.ts';

/** The login shells, each with its path in a machine and the file that it reads first when sshd starts it. */
export const SHELLS = {
  sh: { path: '/usr/bin/dash' },
  bash: { path: '/bin/bash', startFile: '.bashrc' },
  zsh: { path: '/usr/bin/zsh', startFile: '.zshenv' },
  fish: { path: '/usr/bin/fish', startFile: '.config/fish/config.fish' },
  tcsh: { path: '/usr/bin/tcsh', startFile: '.tcshrc' },
  mksh: { path: '/bin/mksh' },
  busybox: { path: '/etc/ssh/busybox/sh' },
} satisfies Record<string, { path: string; startFile?: string }>;

export type Shell = keyof typeof SHELLS;
export const shells = Object.keys(SHELLS) as Shell[];

/** The id of the user of a login shell. */
export const UID = 1_000;

/** A test with machines of its own. */
export const machineTest = testNeeding(
  'root, sshd and the login shells of scripts/machine.mjs',
  isRoot && ['ssh', 'sshd', 'unshare', 'nsenter', 'zsh', 'fish', 'tcsh', 'mksh', 'busybox'].every(hasProgram),
  'linux',
);

/** A machine with the programs of this one, and with users, homes, temporary directories and processes of its own. */
export interface Machine {
  address: TargetAddress & ConnectOptions;
  /** The file for `ssh -F`. */
  config: string;
  /** The keys of the host and the user, and `known_hosts`. */
  keys: string;
  /** The home of its user, as this machine sees it. What is mounted there is seen in the machine only. */
  home: string;
  /** Runs a script in it as root. Returns what it prints. */
  run(script: string): string;
  /** Writes a file into the home of the user, who owns it. */
  put(name: string, text: string | Uint8Array): void;
}

/** Starts a machine with one user, who has this login shell and its name. It ends with the test. */
export async function machine(shell: Shell): Promise<Machine> {
  const place = folder();
  const [etc, homes] = [made(join(place, 'ssh'), 0o755), made(join(place, 'home'), 0o755)];
  for (const name of ['tmp', 'var-tmp']) made(join(place, name), 0o1777);
  symlinkSync('/usr/bin/busybox', join(made(join(etc, 'busybox'), 0o755), 'sh'));
  const home = made(join(homes, shell), 0o700);
  chownSync(home, UID, UID);
  const user = `${shell}:*:${UID}:${UID}::/home/${shell}:${SHELLS[shell].path}\n`;
  writeFileSync(join(place, 'passwd'), readFileSync('/etc/passwd', 'utf8') + user, { mode: 0o644 });
  const keys = makeKeys(place);
  writeFileSync(join(etc, 'host'), readFileSync(join(place, 'host')), { mode: 0o600 });
  // The part of sshd that runs as the user of the login reads it.
  chmodSync(writeLines(join(etc, 'authorized_keys'), [keys.user]), 0o644);
  writeLines(join(etc, 'sshd_config'), serverLines('/etc/ssh/host', '/etc/ssh/authorized_keys'));
  const bound = { ssh: '/etc/ssh', home: '/home', passwd: '/etc/passwd', 'var-tmp': '/var/tmp', tmp: '/tmp' };
  const mounts = Object.entries(bound).map(([name, to]) => `mount --bind '${join(place, name)}' ${to}`);
  const { enter } = await world(['mkdir /run/sshd; hostname box', ...mounts].join('\n'));
  const proxy = `${enter.join(' ')} /usr/sbin/sshd -i -f /etc/ssh/sshd_config`;
  const config = clientConfig(place, { host: 'box', user: shell, hostKey: keys.host, proxy });
  const run = (script: string) => runIn(enter, script);
  const put = (name: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
    run(`chown -R ${UID}:${UID} '/home/${shell}'`);
  };
  return { address: { ssh: { host: 'box', config } }, config, keys: place, home, run, put };
}

function made(path: string, mode: number): string {
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}
