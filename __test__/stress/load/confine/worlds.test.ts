import { existsSync, readFileSync } from 'node:fs';
import { type BashOptions, bash } from 'agent-bash';
import { expect } from 'vitest';
import { innerOf } from '../../../../ts/core/inner.ts';
import { OWNER } from '../../../../ts/core/world.ts';
import { folder, linuxTest, supervisorOf, until } from '../../../support/index.ts';

const run = (command: string, options: BashOptions = {}) =>
  bash(command, { confine: 'workspace', timeoutMs: 20_000, ...options });

/** The processes below the supervisor of a host: shims, and the first processes of worlds. */
const helpers = (of = process.pid) => {
  const supervisor = supervisorOf(of);
  return supervisor
    ? Number(readFileSync(`/proc/${supervisor.pid}/task/${supervisor.pid}/children`, 'utf8').split(' ').length - 1)
    : 0;
};

/** Makes an owner of worlds, as each tool, session and registry is one. */
const newOwner = (root: string) => innerOf(bash).newOwner(root);

linuxTest('worlds leave nothing when they have ended', async () => {
  const cwd = folder();
  await run('true', { cwd });
  const before = helpers();
  const places: string[] = [];
  for (let round = 0; round < 5; round++) {
    const owners = Array.from({ length: 10 }, () => newOwner(cwd));
    const results = await Promise.all(
      owners.map((owner) =>
        run('echo x >/tmp/x; sleep 300 >/dev/null & ls /tmp', { cwd, [OWNER]: owner } as BashOptions),
      ),
    );
    expect(new Set(results.map(({ confinement }) => confinement?.tmp)).size).toBe(10);
    expect(results.every(({ stdout }) => stdout.endsWith('x\n'))).toBe(true);
    places.push(...results.map(({ confinement }) => confinement?.tmp ?? cwd));
    for (const owner of owners) owner.end();
  }
  // The blank world, an init and a gate, may not have been there yet.
  await until(() => helpers() <= before + 2 && !places.some((tmp) => existsSync(tmp)));
});
