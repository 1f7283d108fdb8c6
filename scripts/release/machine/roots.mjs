/** Roots of containers without a container: what an image of a kind has, and nothing more. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BUSYBOX = 'cp "$(command -v busybox)" "$R/bin/busybox"; "$R/bin/busybox" --install "$R/bin"';

/**
 * The roots by their names. In all commands `$R` is the root.
 *
 * - `fill`: the commands that fill it, beside bash. `$PROGRAM` is the program for targets, unpacked
 * - `mounts`: the commands that mount it, in a namespace of each connection
 * - `home`: the home there. Default: /root
 * - `hostProgram`: the path of the program, where the image brings it along
 */
export const ROOTS = {
  busybox: {
    fill: BUSYBOX,
  },
  'busybox, read-only': {
    fill: `${BUSYBOX}; cp "$PROGRAM" "$R/agent-bash-host"`,
    mounts: 'mount -t tmpfs tmp "$R/tmp"; mount -o remount,bind,ro "$R"',
    home: '/tmp',
    hostProgram: '/agent-bash-host',
  },
  'nothing but bash': {
    fill: 'ln -s bash "$R/bin/sh"; cp "$PROGRAM" "$R/agent-bash-host"',
    hostProgram: '/agent-bash-host',
  },
};

// The `ldd` of a machine with musl does not find the libraries of a bash with glibc, whose loader lists them.
const FILL = `set -eu
gunzip -c "$PACKED" >"$PROGRAM"; chmod 755 "$PROGRAM"
mkdir -p "$R/bin" "$R/tmp" "$R/proc" "$R/dev"; mkdir -m 700 "$R/root"; chmod 1777 "$R/tmp"; mkdir "$R/tmp/agent-bash-tryout"; cp -L /bin/bash "$R/bin/"
{ LD_TRACE_LOADED_OBJECTS=1 /bin/bash -c :; ldd /bin/bash 2>/dev/null; } | grep -o '/[^ ]*' | while read -r file; do mkdir -p "$R\${file%/*}"; cp -Ln "$file" "$R$file"; done
`;

/**
 * Makes a root with the program of the package `host`. Resolves to what `ofTarget` takes, and `end`, which removes
 * it.
 */
export function rootFor(name, host) {
  const { fill, mounts = '', home = '/root', ...options } = ROOTS[name];
  const place = mkdtempSync(join(tmpdir(), 'agent-bash-root-'));
  const [root, program] = [join(place, 'root'), join(place, 'agent-bash-host')];
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const env = { ...process.env, R: root, PROGRAM: program, PACKED: join(host, `agent-bash-host.${machine}.gz`) };
  execFileSync('bash', ['-c', `${FILL}${fill}`], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const enter = `R=$0; mount --bind "$R" "$R"; mount -t proc proc "$R/proc"; mount --rbind /dev "$R/dev"; ${mounts}
    exec env -i PATH=/bin HOME=${home} "$(command -v chroot)" "$R" "$@"`;
  const path = '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin';
  const alone = ['env', '-i', `PATH=${path}`, 'unshare', '--mount', '--propagation', 'private'];
  const end = () => rmSync(place, { recursive: true });
  return { command: [...alone, 'bash', '-ec', enter, root], end, ...options };
}
