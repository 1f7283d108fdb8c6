import { bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { Site } from '../undo/support.ts';

/** Runs a command that writes to `d/a`, or makes `d/new`, and returns what its receipt says. */
async function receiptOf(command: string) {
  const site = new Site();
  await site.prepare('mkdir d; echo 1 >d/a');
  const before = JSON.stringify(site.tree());
  const { receipt, stderr } = await bash(command, { cwd: site.cwd, safety: 'off', receipt: 'exact' });
  return {
    receipt,
    changes: JSON.stringify(site.changes(receipt)),
    changed: before !== JSON.stringify(site.tree()),
    stderr,
  };
}

describe('a path that leads through /proc, where the recorder would find itself', () => {
  linuxTest.each([
    'exec 3<d/a; echo x > /proc/self/task/$$/fd/3',
    'echo x > /proc/self/task/$$/cwd/d/a',
    'mkdir /proc/self/task/$$/cwd/d/new',
    'cd /proc/self/task && echo x > $$/root$OLDPWD/d/a',
    'ln -s /proc/self/cwd s; echo x > s/d/a',
    'ln -s /proc/self/task/$$/cwd s; echo x > s/d/a',
    'exec 200<d; ln -s /dev/fd/200 s; echo x > s/a',
    'exec 200<d/a; echo x > /tmp/../proc/self/fd/200',
    'exec 9<d/a; echo x > /tmp/../proc/self/fd/9',
    'exec 9<d/a; ln -s "$(realpath --relative-to=. /)/proc/self/fd" s; echo x > s/9',
    'exec 3<d/a; echo x > /proc/sys/../self/task/$$/fd/3',
  ])('is in the receipt, or the receipt is partial: %s', async (command) => {
    const { receipt, changes, changed, stderr } = await receiptOf(command);
    expect([changed, stderr]).toEqual([true, '']);
    const isListed = changes.includes('"d/a"') || changes.includes('"d/new"');
    expect(isListed || receipt?.state === 'partial', changes).toBe(true);
  });

  linuxTest('leaves a receipt known where the call fails, or writes a file of the kernel', async () => {
    const { receipt } = await receiptOf(
      'ln -s l l; mkdir l/x none/x d/a/x; echo 1 > /proc/self/none/x; echo 1 > /proc/sys/none/x; echo a > /proc/self/comm',
    );
    expect(receipt).toMatchObject({ state: 'known', counts: { created: 1 } });
  });
});
