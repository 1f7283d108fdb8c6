import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { packageRoot, rootTest, skippedWithout } from '../../support/index.ts';
import { type Ground, ground } from '../support/ground.ts';
import { type User, users } from '../support/users.ts';

/** Returns whether AppArmor decides here who makes user namespaces (Linux 6.7). */
function mediates(): boolean {
  try {
    return readFileSync('/sys/kernel/security/apparmor/features/namespaces/mask', 'utf8').includes('userns_create');
  } catch {
    return false;
  }
}

/** A profile is loaded for all programs of a machine, so this is tried on one that was made for tests. */
const guestTest =
  process.env.AGENT_BASH_EMULATED === '1' && mediates()
    ? rootTest
    : skippedWithout('a guest with AppArmor of Linux 6.7');

/** Lets Node do everything but make user namespaces, as Ubuntu lets every program. */
const RESTRICTED = `abi <abi/4.0>,
include <tunables/global>
profile agent-bash-test ${process.execPath} flags=(attach_disconnected) {
  /{,**} rwlkm,
  /{,**} pix,
  capability, network, unix, signal, ptrace, mount, remount, umount, pivot_root, change_profile,
}
`;

const COPIES = '/usr/local/lib/agent-bash';

/** How a command of an ordinary user is confined by a package, and the profile of the command. */
function confined(folder: string, place: Ground): { way: string; profile: string } {
  const user = users.at(-1) as User;
  const script = `require(${JSON.stringify(join(folder, 'dist/index.cjs'))})
    .bash('cat /proc/self/attr/current', { confine: { require: [] }, cwd: process.env.HOME })
    .then(({ confinement, stdout }) => console.log(JSON.stringify({ way: confinement.way, profile: stdout.trim() })))`;
  const env = { PATH: process.env.PATH, HOME: place.home(user) };
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { ...user, env, encoding: 'utf8' }));
}

guestTest('where AppArmor restricts user namespaces, the profile of doctor --fix lets the supervisor make them', () => {
  const place = ground({ attacks: false });
  const [restricted, plan] = [join(place.path, 'restricted'), join(place.path, 'plan')];
  const profile = join(plan, 'etc/apparmor.d/agent-bash');
  onTestFinished(() => {
    for (const file of [restricted, profile]) spawnSync('apparmor_parser', ['--remove', file]);
    rmSync(COPIES, { recursive: true, force: true });
    place.remove();
  });
  mkdirSync(plan);
  const fix = ['doctor', '--fix', '--for', 'apparmor', '--root', plan, '--yes'];
  execFileSync(process.execPath, [join(packageRoot, 'dist/cli.mjs'), ...fix]);
  const copy = join(COPIES, '0');
  cpSync(place.package, copy, { recursive: true });
  expect(confined(copy, place)).toMatchObject({ way: 'namespaces' });
  writeFileSync(restricted, RESTRICTED);
  execFileSync('apparmor_parser', ['--replace', restricted]);
  expect(confined(copy, place)).toEqual({ way: 'listener', profile: 'agent-bash-test (enforce)' });
  execFileSync('apparmor_parser', ['--replace', profile]);
  expect(confined(copy, place)).toEqual({ way: 'namespaces', profile: 'agent-bash (unconfined)' });
  // It is the path of the copy that has the permission.
  expect(confined(place.package, place)).toMatchObject({ way: 'listener' });
});
