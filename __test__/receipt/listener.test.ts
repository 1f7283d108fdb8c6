import { join } from 'node:path';
import { BashSession } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, linuxTest } from '../support/index.ts';

// The commands of a world get variables that no shell has which was prepared before it. The variable is read at the
// first command.
process.env.AGENT_BASH_NAMESPACES = 'off';

describe('the first command of a session whose world names directories', () => {
  linuxTest.each([
    ['true', []],
    ['echo new >made', ['made']],
  ])('Linux: %s', async (command, created) => {
    const cwd = folder();
    await using session = new BashSession({ cwd, confine: 'workspace', receipt: 'exact' });
    const { receipt } = await session.run(command);
    expect([receipt?.state, receipt?.created.map(({ path }) => path)]).toEqual([
      'known',
      created.map((name) => join(cwd, name)),
    ]);
  });
});
