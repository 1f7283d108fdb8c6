import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { librariesOf, unpacked } from '../../support/debian.ts';

/** The path of an unpacked SSH server, a small one that needs no user and no privilege, or `undefined`. */
export const sshServer = (): string | undefined => unpacked('dropbear-bin');

/** Starts it on this port, with a key of its own in this directory. */
export function serve(place: string, folder: string, port: number): ChildProcess {
  const env = { ...process.env, LD_LIBRARY_PATH: librariesOf(place) };
  const key = join(folder, 'hostkey');
  execFileSync(join(place, 'usr', 'bin', 'dropbearkey'), ['-t', 'ed25519', '-f', key], { env, stdio: 'ignore' });
  const server = join(place, 'usr', 'sbin', 'dropbear');
  return spawn(server, ['-F', '-E', '-r', key, '-p', `127.0.0.1:${port}`, '-P', ''], { env, stdio: 'ignore' });
}
