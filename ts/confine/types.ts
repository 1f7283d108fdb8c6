/** The option `confine` of a command. */
export type ConfineSetting = 'off' | 'read-only' | 'workspace' | ConfineOptions;

/**
 * The reach of a command, whatever its text. Every option may be left out, and `undefined` counts as left out. An
 * option that does not exist, a wrong value, and options that contradict each other are `ERR_BASH_INVALID_ARG`.
 *
 * A path is absolute or begins with `~/`, which is below `$HOME` of this process and below the home in the user
 * database alike. It is no pattern: `*` and `?` are refused, unless a file has that name. Links and `..` are resolved
 * once for each owner of commands. A list has at most 256 entries.
 */
export interface ConfineOptions {
  /**
   * The starting point: `'workspace'` lets commands change files below `cwd`, `'read-only'` lets them change no files.
   *
   * @default 'workspace'
   * @example await bash('npm test', { confine: { profile: 'read-only', write: ['/srv/project/coverage'] } });
   */
  profile?: 'read-only' | 'workspace' | undefined;
  /**
   * Directories and files that may be changed, in addition to the directories and files of the profile. A missing path
   * is `ERR_BASH_CONFINEMENT`. The root directory, a directory of the kernel, a path in a hidden or protected
   * directory, and a link that leads out of another entry are refused.
   *
   * @default []
   * @example await bash('make install', { confine: { write: ['/srv/www'] } });
   */
  write?: string[] | undefined;
  /**
   * Whether git can work in a repository that lies outside of those directories: `'repository'` lets commands change
   * the git directory of a linked work tree, of a submodule, or of the repository above a directory, but not its hooks,
   * its configuration, and what belongs to other work trees. The git directory must lead back to the directory;
   * otherwise `notes` has the reason. With profile `'read-only'`, and with `'none'`, nothing outside can be changed.
   *
   * @default 'repository'
   * @example await bash('git status', { confine: { git: 'none' } });
   */
  git?: 'repository' | 'none' | undefined;
  /**
   * Files that are never changed or created in those directories: names relative to each of them and to each git
   * repository in it, or paths. The list replaces the default list, which has `.git/hooks`, `.git/config`, `.vscode`,
   * `.idea`, `.mcp.json`, `.claude`, `.cursor`, `.envrc`, `.gitconfig`, `.npmrc` and the start files of shells.
   *
   * @default the list above
   * @example await bash('npm version patch', { confine: { protect: ['.git/hooks', 'infra/production'] } });
   */
  protect?: string[] | undefined;
  /**
   * Paths that can be neither read nor listed, added to the default list: keys, tokens and passwords in the home,
   * profiles of browsers, keyrings, and the directories of this package. A path may be missing. A path that contains
   * `cwd` is refused.
   *
   * @default []
   * @example await bash('npm test', { confine: { hide: ['/srv/project/.env', '~/finances'] } });
   */
  hide?: string[] | undefined;
  /**
   * Paths that can be read. `'all'`: all except the hidden paths. A list: these paths, the paths that may be changed,
   * and the directories of the system. A list must reach `cwd`.
   *
   * @default 'all'
   * @example await bash('cargo build', { confine: { read: ['~/.cargo', '~/.rustup'] } });
   */
  read?: 'all' | string[] | undefined;
  /**
   * Hosts that can be reached. `'none'`: only the loopback of the commands. `'full'`: all hosts, as without
   * confinement. An object: the hosts of its list.
   *
   * @default 'none'
   * @example await bash('npm ci', { confine: { network: { allow: ['registry.npmjs.org'] } } });
   */
  network?: 'none' | 'full' | ConfineNetwork | undefined;
  /**
   * TCP ports of the commands' own loopback that the loopback of this machine forwards to: at most 64 whole numbers
   * from 1 to 65,535. Refused with network `'full'`. A port that another server or owner has is `ERR_BASH_CONFINEMENT`,
   * or a note if `require` is without `'network'`.
   *
   * @default []
   * @example await bash('npm run dev', { mode: 'background', confine: { expose: [3000] } });
   */
  expose?: number[] | undefined;
  /**
   * Whether `/tmp`, `/var/tmp` and `/dev/shm` are private to the commands and end with their owner, or are this
   * machine's. Either way they can be changed.
   *
   * @default 'private'
   * @example await bash('cp build.tar /tmp', { confine: { tmp: 'shared' } });
   */
  tmp?: 'private' | 'shared' | undefined;
  /**
   * The caches of package managers. `'overlay'`: caches can be read, and written files end with the owner. `'shared'`:
   * the caches of this user, which can be changed. `'none'`: caches are as read-only as the rest of the home.
   *
   * @default 'overlay'
   * @example await bash('npm ci', { confine: { caches: 'shared', network: { allow: ['registry.npmjs.org'] } } });
   */
  caches?: 'overlay' | 'shared' | 'none' | undefined;
  /**
   * The parts that must hold. If this machine cannot hold one, nothing is started: `ERR_BASH_CONFINEMENT`, with
   * `missing`. A part that is not required and cannot be held is in `result.confinement.missing`.
   *
   * @default all that the options ask for: all four, without `'network'` if that is `'full'`
   * @example await bash('npm test', { confine: { require: ['files'] } });
   */
  require?: ConfinePart[] | undefined;
  /**
   * Secrets that commands use and cannot read, by the variables in which they see a stand-in: a text of the same form
   * that is worth nothing elsewhere. The gate of the commands puts the value in its place, in requests over TLS to the
   * hosts of the secret, which are allowed by that. At most 64. `'network'` and `'processes'` are then required.
   * Refused with network `'full'`. A variable of `env`, and one by which programs are steered, such as `PATH`, is
   * refused.
   *
   * @default {}
   * @example await bash('gh api user', {
   *   confine: { secrets: { GITHUB_TOKEN: { value: token, hosts: ['api.github.com'] } } },
   * });
   */
  secrets?: Record<string, Secret> | undefined;
  /**
   * The ssh agent of this machine, for some hosts alone, which are allowed by that. Commands find it by
   * `SSH_AUTH_SOCK`. It signs logins to these hosts, and nothing else. `'network'` and `'processes'` are then required.
   * Refused with network `'full'`.
   *
   * @default commands have no agent
   * @example await bash('git push', { confine: { ssh: { hosts: ['github.com'] } } });
   */
  ssh?: ConfineSsh | undefined;
}

/** The use of this machine's ssh agent. */
export interface ConfineSsh {
  /**
   * The path of the agent's socket.
   *
   * @default that of `SSH_AUTH_SOCK`
   */
  agent?: string | undefined;
  /**
   * Hosts as in `network.allow`, with port 22 unless one is named, at most 64. A key of each must be in the
   * `known_hosts` of this user or machine. Lines with an authority of hosts (`@cert-authority`) do not count.
   */
  hosts: string[];
  /**
   * Fingerprints of the keys that commands see and use, as `ssh-add -l` prints them (`SHA256:…`), at most 64.
   *
   * @default all keys of the agent
   */
  keys?: string[] | undefined;
}

/** A secret that commands use and cannot read. */
export interface Secret {
  /**
   * The value: 8 bytes to 64 KiB, with at least 8 letters and digits. A function is called before the first command,
   * and before later ones after `ttlMs`. If it fails, the gate answers requests with 407 and the reason.
   *
   * @example { value: () => keychain.get('github'), hosts: ['api.github.com'] }
   */
  value: string | (() => string | Promise<string>);
  /** Names and `*.domain`, each with an optional port, as in `network.allow`. Addresses are refused. */
  hosts: string[];
  /**
   * Where the value may be put in: `'bearer'` and `'basic'` in `Authorization`, `'header'` in any header, `'query'` in
   * the URL, `'body'` in forms and JSON, `'sigv4'` as the key that signs a request to AWS, or its id. A stand-in
   * anywhere else in a request is answered with 403.
   *
   * @default any header, and the user and password of Basic
   */
  as?: SecretPlace | SecretPlace[] | undefined;
  /**
   * Methods for which the secret may be used. `*` stands for any characters. Others are answered with 403.
   *
   * @default all
   */
  methods?: string[] | undefined;
  /**
   * Paths for which the secret may be used, such as `/repos/acme/*`, in which `*` stands for any characters. Others are
   * answered with 403, and so are paths that servers read in several ways, such as `/a/../b`.
   *
   * @default all
   */
  paths?: string[] | undefined;
  /**
   * Whether the value is put in although a command sends no `Authorization`. No variable is set then. It needs `as`:
   * `'bearer'`, or `'basic'` with a value `user:password`.
   *
   * @default false
   */
  inject?: boolean | undefined;
  /**
   * The path of a file in which commands find the stand-in, in place of a variable: the file of that path on this
   * machine, which must exist, or `template`. It is read-only.
   *
   * @default a variable
   */
  file?: string | undefined;
  /**
   * The content of the file, in which `${NAME}` is the stand-in.
   *
   * @default the content of the file on this machine
   */
  template?: string | undefined;
  /**
   * Milliseconds after which a function is called again.
   *
   * @default it is called once
   */
  ttlMs?: number | undefined;
}

/** Where a secret may be put into a request. */
export type SecretPlace = 'bearer' | 'basic' | 'header' | 'query' | 'body' | 'sigv4';

/** Hosts that can be reached. */
export interface ConfineNetwork {
  /**
   * Entries, each a name, `*.domain` (all names below, and not the domain), an IP address or a CIDR, with an optional
   * port: `registry.example.org`, `*.example.org:8443`, `10.0.0.0/8:5432`, `[2001:db8::1]:443`. Without a port 80 and
   * 443. A name that resolves to a private, loopback or link-local address is refused, unless `hosts` maps it.
   * `localhost`, `127.0.0.1` and `::1` always mean the commands' own loopback.
   *
   * @example await bash('npm ci', { confine: { network: { allow: ['registry.npmjs.org', '*.github.com:22'] } } });
   */
  allow: string[];
  /**
   * IP addresses by name, which are asked before any resolver. An entry of `allow` must have the name.
   *
   * @default {}
   * @example await bash('npm test', {
   *   confine: { network: { allow: ['db.local:5432'], hosts: { 'db.local': '127.0.0.1' } } },
   * });
   */
  hosts?: Record<string, string> | undefined;
}

/**
 * A part of a confinement: which files can be read and written, which hosts can be reached, which processes can be seen
 * and signalled, which system calls are refused.
 */
export type ConfinePart = 'files' | 'network' | 'processes' | 'syscalls';
