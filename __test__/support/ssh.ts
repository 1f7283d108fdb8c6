import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { hasProgram, isLinux, isRoot, testNeeding } from './capability.ts';
import { librariesOf, unpacked } from './debian.ts';
import { folder } from './folder.ts';

/** A program of Debian's openssh-server or what it depends on, and the libraries that it brings. */
interface Program {
  path: string;
  libraries: string;
}

/** Finds a program, installed or unpacked. As root, sshd wants its own user, which only an installed package has. */
function programAt(path: string): Program | undefined {
  if (existsSync(path)) return { path, libraries: '' };
  const place = isRoot ? undefined : unpacked('openssh-server');
  const found = place && join(place, path);
  return found && existsSync(found) ? { path: found, libraries: librariesOf(place) } : undefined;
}

const server = isLinux ? programAt('/usr/sbin/sshd') : undefined;
const keygen = isLinux ? programAt('/usr/bin/ssh-keygen') : undefined;
/** sshd ends a login without one. */
const hasShell = !/\/(?:nologin|false)$/.test(isLinux ? (userInfo().shell ?? '') : '');

/** A test that connects with ssh. */
export const sshTest = testNeeding(
  'ssh, sshd and an account with a shell',
  hasProgram('ssh') && server !== undefined && keygen !== undefined && hasShell,
  'linux',
);

/** A machine that ssh reaches: this one, with a home of its own. */
export interface SshHost {
  /** The file for `ssh -F`. */
  config: string;
  /** The name of the host in that file. */
  host: string;
  /** The home of a login, which also has its caches and its state. */
  home: string;
}

/**
 * Makes a host for one test. Each connection starts an sshd for itself, which listens nowhere. Nothing is left in the
 * home of the account.
 */
export function sshHost(): SshHost {
  if (!server) throw new Error('there is no sshd: the test is to be one of `sshTest`');
  // As root, sshd confines the part of it that talks to a client not known yet to this directory.
  if (isRoot) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const place = folder();
  const host = 'box';
  const home = join(place, 'home');
  mkdirSync(home, { mode: 0o700 });
  const keys = makeKeys(place);
  const variables = {
    HOME: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_RUNTIME_DIR: home,
    XDG_STATE_HOME: join(home, '.state'),
  };
  const authorized = writeLines(join(place, 'authorized_keys'), [keys.user]);
  const daemon = writeLines(join(place, 'sshd_config'), [
    ...serverLines(join(place, 'host'), authorized),
    `SetEnv ${Object.entries(variables)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
  ]);
  const user = userInfo().username;
  const proxy = `env LD_LIBRARY_PATH=${server.libraries} ${server.path} -i -f ${daemon}`;
  const config = clientConfig(place, { host, user, hostKey: keys.host, proxy });
  // The part of sshd that runs as the user of the login reads the keys, also below a private directory for root.
  chmodSync(place, 0o755);
  return { config, host, home };
}

/** Writes a file of lines that only its owner may read. Returns its path. */
export function writeLines(path: string, lines: string[]): string {
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
  return path;
}

/** Makes the key of a host and of a user in a directory, as `host` and `user`. Returns the public ones. */
export function makeKeys(place: string): { host: string; user: string } {
  if (!keygen) throw new Error('there is no ssh-keygen: the test is to be one of `sshTest`');
  const make = (name: string) => {
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(place, name)];
    execFileSync(keygen.path, args, { env: { ...process.env, LD_LIBRARY_PATH: keygen.libraries } });
    return readFileSync(join(place, `${name}.pub`), 'utf8').trim();
  };
  return { host: make('host'), user: make('user') };
}

/** Returns the config of an sshd that serves one connection and writes nothing. */
export function serverLines(hostKey: string, authorizedKeys: string): string[] {
  return [
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'LogLevel QUIET',
  ];
}

/** What ssh needs to know of a host. */
export interface Login {
  /** The name of the host in the config. */
  host: string;
  user: string;
  /** The public key that is in `known_hosts`. Undefined: the host is not known. */
  hostKey: string | undefined;
  /** The command that leads to an sshd. Undefined: ssh dials by itself. */
  proxy?: string;
  /** Further lines. */
  more?: string[];
}

/** Writes the file for `ssh -F` into a directory with keys of `makeKeys`. Returns its path. */
export function clientConfig(place: string, { host, user, hostKey, proxy, more = [] }: Login): string {
  const known = writeLines(join(place, 'known_hosts'), hostKey ? [`${host} ${hostKey}`] : []);
  return writeLines(join(place, 'ssh_config'), [
    `Host ${host}`,
    `  User ${user}`,
    `  HostKeyAlias ${host}`,
    `  IdentityFile ${join(place, 'user')}`,
    '  IdentitiesOnly yes',
    '  IdentityAgent none',
    `  UserKnownHostsFile ${known}`,
    '  GlobalKnownHostsFile none',
    '  StrictHostKeyChecking yes',
    ...[...(proxy ? [`ProxyCommand ${proxy}`] : []), ...more].map((line) => `  ${line}`),
  ]);
}
