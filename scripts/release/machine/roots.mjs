/** Roots of containers without a container: what an image of a kind has, and nothing more. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The roots by their names, each with the commands that fill it. In them `$R` is the root, `put FILE…` copies programs
 * with their libraries, and `$PROGRAM` is the program for targets, unpacked.
 *
 * - `shell`: what a connection starts there
 * - `hostProgram`: the path of the program, where the image brings it along
 */
export const ROOTS = {
  busybox: {
    fill: 'put /bin/bash; cp "$BUSYBOX" "$R/bin/busybox"; "$BUSYBOX" --install "$R/bin"; mkdir -m 700 "$R/root"',
    shell: '/bin/sh',
  },
  'busybox, read-only': {
    fill: 'put /bin/bash; cp "$BUSYBOX" "$R/bin/busybox"; "$BUSYBOX" --install "$R/bin"; cp "$PROGRAM" "$R/agent-bash-host"; mount --bind "$R" "$R"; mount -t tmpfs tmp "$R/tmp"; mount -o remount,bind,ro "$R"',
    shell: '/bin/sh',
    hostProgram: '/agent-bash-host',
  },
  'nothing but bash': {
    fill: 'put /bin/bash; cp "$PROGRAM" "$R/agent-bash-host"',
    shell: '/bin/bash',
    hostProgram: '/agent-bash-host',
  },
};

const FILL = `set -eu
put() { for file; do ldd "$file" | grep -o '/[^ ]*' | while read -r one; do mkdir -p "$R\${one%/*}"; cp -Ln "$one" "$R$one"; done; cp -L "$file" "$R/bin/"; done; }
BUSYBOX=$(command -v busybox)
mkdir -p "$R/bin" "$R/tmp" "$R/proc" "$R/dev"; chmod 1777 "$R/tmp"
mount -t proc proc "$R/proc"; mount --rbind /dev "$R/dev"
`;

/** Makes a root with the programs of the package `host`. Resolves to what `ofTarget` takes, and `end`, which removes it. */
export async function rootFor(name, host) {
  const { fill, shell, ...options } = ROOTS[name];
  const place = mkdtempSync(join(tmpdir(), 'agent-bash-root-'));
  const [root, program] = [join(place, 'root'), join(place, 'agent-bash-host')];
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const packed = join(host, `agent-bash-host.${machine}.gz`);
  const unpack = `gunzip -c '${packed}' >'${program}'; chmod 755 '${program}'\n`;
  const env = { ...process.env, R: root, PROGRAM: program };
  execFileSync('bash', ['-c', `${unpack}${FILL}${fill}`], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const words = ['env', '-i', 'PATH=/bin', 'HOME=/root', 'chroot', root, shell];
  const end = () =>
    execFileSync('bash', [
      '-c',
      'umount -R "$0"/* 2>/dev/null; umount -R "$0" 2>/dev/null; rm -rf --one-file-system "$0"',
      root,
    ]);
  return { command: words, end, ...options };
}
