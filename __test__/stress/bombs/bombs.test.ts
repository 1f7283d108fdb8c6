import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folder, hostResult, isLinux, isRoot, linuxTest } from '../../support/index.ts';

/**
 * Words in front of a host: a process namespace, all of which is killed after 20 s. That ends a bomb even if the code
 * under test does nothing.
 */
const CONTAINED = [
  'set -- unshare',
  ...(isRoot ? [] : ['--map-root-user']),
  '--pid --fork --kill-child --mount-proc -- "$@"',
  '\nset -- timeout --signal=KILL 20 "$@"',
].join(' ');

/** Words in front of a bomb: the kernel allows it 3,000 processes, each with a second of CPU time. */
function braked(bomb: string): string {
  const brake = `ulimit -t 1; ulimit -u 3000; ${bomb}`;
  // The kernel exempts root from the limit of processes.
  return isRoot ? `exec setpriv --reuid=65534 --clear-groups bash -c '${brake.replaceAll("'", "'\\''")}'` : brake;
}

interface Bombed {
  result: { status: string; exitCode: number; signal: string | null; survivors: unknown[]; notes: string[] };
  beside: string;
  after: string;
}

/** Runs a bomb in a contained host, beside another command, and one more command after it. */
function bombed(bomb: string): Promise<Bombed> {
  const cwd = folder();
  chmodSync(cwd, 0o755);
  const options = { limits: { processes: 50 }, graceMs: 0, timeoutMs: 15_000, safety: 'off', cwd };
  return hostResult<Bombed>(
    `import { readdirSync, statSync } from 'node:fs';
     const beside = bash('read -t 1 <> <(:); echo beside');
     const result = await bash(${JSON.stringify(braked(bomb))}, ${JSON.stringify(options)});
     const { stdout: after } = await bash('echo after');
     // Those of root are told by their user.
     const isBomb = (pid) => statSync('/proc/' + pid, { throwIfNoEntry: false })?.uid === 65534;
     while (readdirSync('/proc').some(isBomb)) await new Promise((resolve) => setTimeout(resolve, 20));
     console.log(JSON.stringify({ result, beside: (await beside).stdout, after }));`,
    { before: CONTAINED },
  );
}

const over = {
  ...{ status: 'signaled', exitCode: 137, signal: 'SIGKILL', survivors: [] },
  notes: [expect.stringMatching(/^limits\.processes: /)],
};

linuxTest.each<[string, string]>([
  ['that waits', 'b() { b & b & wait; }; b'],
  ['each in a session of its own', `export B='for i in 1 2 3; do setsid bash -c "$B" & done; sleep .01'; eval "$B"`],
])('a fork bomb %s is over, and other commands go on', async (_, bomb) => {
  expect(await bombed(bomb)).toMatchObject({ result: over, beside: 'beside\n', after: 'after\n' });
});

// The call is over 50 ms after its shell. On a busy machine the bomb may have fewer processes than the limit then.
linuxTest('a fork bomb whose shell ends at once is over, before or after the call', async () => {
  const { result, after } = await bombed('b() { b | b & }; b');
  expect(after).toBe('after\n');
  if (result.notes.length > 0) expect(result).toMatchObject(over);
  else expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
});

// The helpers of such a host have no priority, so the brakes of the bomb are needed.
test.runIf(isLinux && isRoot)('a fork bomb of a host that may do less than root is over', async () => {
  const { result } = await hostResult<Bombed>(
    `process.setgid(65534); process.setuid(65534);
     const bomb = 'ulimit -t 1; ulimit -u 2000; b() { b & b & wait; }; b 2> /dev/null';
     const options = { limits: { processes: 50 }, graceMs: 0, timeoutMs: 15_000, safety: 'off', cwd: '/' };
     console.log(JSON.stringify({ result: await bash(bomb, options) }));`,
    { before: CONTAINED },
  );
  expect(result.notes).toEqual(over.notes);
});
