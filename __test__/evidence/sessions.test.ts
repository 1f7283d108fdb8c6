import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { isLinux } from '../support/index.ts';

describe.runIf(isLinux)('a session', () => {
  const FUNCTIONS = [
    'check() { /bin/sh -c "exit $1"; }',
    'both() { check 0; check "$1"; }',
    'late() { check 3 | cat; }',
    'reads() { cat <<E\n$(check 0)\nE\n}',
  ].join('\n');

  test.each([
    'check 0',
    'check 3',
    'check 3 | cat',
    'check 3; true',
    'check 3 || true',
    'both 3; check 0',
    'both 0',
    'late',
    'reads',
    'x=$(check 3); true',
    '! check 3',
    'for i in 0 0; do check $i; done',
    'check() { /bin/sh -c "exit 0"; }; check 3',
  ])('knows the functions of earlier commands: %s', async (command) => {
    const session = new BashSession({ evidence: 'status' });
    await session.run(FUNCTIONS);
    const { evidence } = await session.run(command);
    await session.close();
    const { evidence: script } = await bash(`${FUNCTIONS}\n${command}`, { evidence: 'status' });
    const told = (found: typeof evidence) => ({
      verdict: found?.verdict,
      state: found?.state,
      parts: found?.parts.map(({ command, exitCode, times }) => [command, exitCode, times]),
      masked: found?.masked.map(({ exitCode, by, behind }) => [exitCode, by, behind]),
    });
    expect(script?.state).toBe('known');
    const { parts, ...rest } = told(evidence);
    const { parts: inScript, ...restOfScript } = told(script);
    expect(rest).toEqual(restOfScript);
    expect(parts?.map(([, code, times]) => [code, times])).toEqual(inScript?.map(([, code, times]) => [code, times]));
  });
});
