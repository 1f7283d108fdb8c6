import { spawnSync } from 'node:child_process';
import { isRoot } from '../../support/index.ts';

/** A user who attacks. */
export interface User {
  name: string;
  uid: number;
  gid: number;
  /** Whether it can run this Node at all. */
  able: boolean;
}

const NOBODY = 65534;

function canRunNode(uid: number): boolean {
  return spawnSync(process.execPath, ['-e', '0'], { uid, gid: uid, cwd: '/' }).status === 0;
}

/** Root and an ordinary user where the tests run as root, else the user of the tests. */
export const users: User[] = isRoot
  ? [
      { name: 'root', uid: 0, gid: 0, able: true },
      { name: 'an ordinary user', uid: NOBODY, gid: NOBODY, able: canRunNode(NOBODY) },
    ]
  : [{ name: 'an ordinary user', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, able: true }];
