import { describe, test } from 'vitest';
import { isLinux } from '../support/index.ts';
import { expectAsInBash } from './generated.ts';

describe.runIf(isLinux)('generated commands with traps, functions and aliases', () => {
  test.each([
    ['as one command', false],
    ['behind earlier commands of a session', true],
  ])('prove what plain bash does, %s', async (_, inSession) => {
    await expectAsInBash({ from: 1, to: 30, inSession });
  });
});
