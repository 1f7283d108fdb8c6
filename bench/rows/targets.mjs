// Targets: what a command and a connection cost over ssh, in turns with commands here and with ssh itself.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { withHost } from '../host/index.mjs';
import { median } from '../stats.mjs';
import { milliseconds, size, time } from '../table.mjs';

export const title = 'targets, over ssh to this machine';

const SSHD = '/usr/sbin/sshd';

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const place = mkdtempSync(join(folder, 'agent-bash-targets-'));
  try {
    const config = sshConfig(place);
    return await withHost({}, async (host) => {
      const { first, later, ssh } = await host.ask('connections', config, short ? 3 : 15);
      const { there, here, rtt, idle } = await host.ask('onTarget', config, short ? 100 : 500);
      const more = median(there) - median(here) - rtt;
      const beside = milliseconds(median(ssh));
      return [
        time("bash('true', { target }), more than here and a round trip", more, {
          reach: { max: 1 },
          note: `${milliseconds(median(there))} p50 beside ${milliseconds(median(here))}; a round trip ${milliseconds(rtt)}`,
        }),
        time('first connection, program sent', median(first), {
          reach: { max: 1_000 },
          note: `beside ${beside} of \`ssh box true\``,
        }),
        time('later connection, more than `ssh box true`', median(later) - median(ssh), {
          reach: { max: 300 },
          note: `${milliseconds(median(later))} beside ${beside}`,
        }),
        size('resident memory of the idle program', idle, { reach: { max: 15e6 } }),
      ];
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Returns a config of ssh for the host `box`: this machine, with a home of its own. Each connection starts an sshd,
 * which listens nowhere.
 */
function sshConfig(place) {
  if (!existsSync(SSHD)) throw new Error(`there is no ${SSHD}: install openssh-server`);
  // As root, sshd confines the part of it that talks to a client not known yet to this directory.
  if (process.getuid() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const home = join(place, 'home');
  mkdirSync(home, { mode: 0o700 });
  for (const name of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(place, name)]);
  }
  const key = (name) => readFileSync(join(place, `${name}.pub`), 'utf8').trim();
  const write = (name, lines) => {
    writeFileSync(join(place, name), `${lines.join('\n')}\n`, { mode: 0o600 });
    return join(place, name);
  };
  const daemon = write('sshd_config', [
    `HostKey ${join(place, 'host')}`,
    `AuthorizedKeysFile ${write('authorized_keys', [key('user')])}`,
    `SetEnv HOME=${home} XDG_CACHE_HOME=${join(home, '.cache')} XDG_RUNTIME_DIR=${home}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'LogLevel QUIET',
  ]);
  chmodSync(place, 0o755);
  return write('ssh_config', [
    'Host box',
    `  User ${userInfo().username}`,
    '  HostKeyAlias box',
    `  IdentityFile ${join(place, 'user')}`,
    '  IdentitiesOnly yes',
    '  IdentityAgent none',
    `  UserKnownHostsFile ${write('known_hosts', [`box ${key('host')}`])}`,
    `  ProxyCommand ${SSHD} -i -f ${daemon}`,
  ]);
}
