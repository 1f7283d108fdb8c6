import { lstat } from 'node:fs/promises';

/** Returns whether a path is a socket of this user. */
export async function isOurSocket(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  return stat?.isSocket() === true && stat.uid === process.getuid?.();
}

/** Returns the host of a socket that is named `PID.sock` or `PID-1.sock`; `null` for another file. */
export function hostOf(file: string): string | null {
  return /^([1-9]\d{0,9}(?:-\d{1,3})?)\.sock$/.exec(file)?.[1] ?? null;
}

/** Returns the name of the socket of a host. */
export function socketName(host: string): string {
  return `${host}.sock`;
}
