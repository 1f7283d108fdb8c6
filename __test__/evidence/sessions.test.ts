import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { isLinux } from '../support/index.ts';

/** Expects a session to know as much of a command behind earlier ones as one script of the same lines. */
async function expectAsInScript(earlier: string, command: string, state = 'known') {
  const session = new BashSession({ evidence: 'status' });
  await session.run(earlier);
  const { evidence } = await session.run(command);
  await session.close();
  const { evidence: script } = await bash(`${earlier}\n${command}`, { evidence: 'status' });
  const told = (found: typeof evidence) => ({
    verdict: found?.verdict,
    state: found?.state,
    // What runs at once begins in any order.
    parts: found?.parts.map(({ exitCode, times }) => [exitCode, times]).sort(),
    masked: found?.masked.map(({ exitCode, by, behind }) => [exitCode, by, behind]),
  });
  expect(script?.state).toBe(state);
  expect(told(evidence)).toEqual(told(script));
  return evidence;
}

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
    await expectAsInScript(FUNCTIONS, command);
  });

  const ALIASES = [
    'shopt -s expand_aliases',
    "alias three='/bin/sh -c \"exit 3\"' none='/bin/sh -c \"exit 0\"' not='! ' piped='three | cat'",
    "alias sh='! sh' both='three; none' either='three ||' run='env ' quiet='three >/dev/null' four=three",
    "later() { x=$(three); /bin/sh -c 'exit 0'; }",
  ].join('\n');

  test.each([
    ['none', 'passed'],
    ['three', 'failed'],
    ['three; true', 'failed'],
    ['three | cat', 'failed'],
    ['piped', 'failed'],
    ['piped | cat; none', 'failed'],
    ['either none', 'unproven'],
    ['both', 'failed'],
    ['four; true', 'failed'],
    ['not three', 'passed'],
    ["sh -c 'exit 3'", 'passed'],
    ["not sh -c 'exit 3'; true", 'failed'],
    ['if three; then none; fi', 'passed'],
    ['for i in 1 2; do three; none; done', 'failed'],
    ['( three; none )', 'failed'],
    ['x=1 quiet; true', 'failed'],
    ['x=$(three); true', 'failed'],
    ['x=`three`; true', 'failed'],
    ['x=$(piped); none', 'failed'],
    ['x=$(three & wait); none', 'failed'],
    ['later', 'failed'],
    ['f() { three; none; }; f', 'failed'],
    ["run /bin/sh -c 'exit 3'; true", 'failed'],
    ["run sh -c 'exit 0'; true", 'failed'],
    ["'three' 2>/dev/null || none", 'unproven'],
    ['unalias three none\nthree() { return 0; }\nthree', 'passed'],
    ["unalias sh\nsh -c 'exit 3'; true", 'failed'],
    ["shopt -u expand_aliases\nsh -c 'exit 3'; true", 'failed'],
    ["alias none='three'\nnone; true", 'failed'],
    ['three <<E | cat\nx\nE\nnone', 'failed'],
  ])('knows the aliases of earlier commands: %s', async (command, verdict) => {
    expect((await expectAsInScript(ALIASES, command))?.verdict).toBe(verdict);
  });

  test('says where a command stands behind an alias', async () => {
    const session = new BashSession({ evidence: 'status' });
    await session.run(ALIASES);
    const command = "three; x=é; piped; /bin/sh -c 'exit 4'; none";
    const { evidence } = await session.run(command);
    await session.close();
    const places = evidence?.parts.map(({ span, exitCode }) => [exitCode, span && command.slice(...span)]);
    expect(places?.filter(([, place]) => place)).toEqual([[4, "/bin/sh -c 'exit 4'"]]);
    expect(evidence?.masked.map(({ command }) => command)).toContain("/bin/sh -c 'exit 4'");
  });

  test.each([
    "if true; then unalias sh; fi\nsh -c 'exit 3'; true",
    "f() { unalias sh; }; f\nsh -c 'exit 3'; true",
    "[ -e / ] && shopt -u expand_aliases\nsh -c 'exit 3'; true",
    "n=sh; unalias $n\nsh -c 'exit 3'; true",
  ])('proves nothing where the aliases are not known: %s', async (command) => {
    expect((await expectAsInScript(ALIASES, command, 'partial'))?.verdict).toBe('unproven');
  });
});
