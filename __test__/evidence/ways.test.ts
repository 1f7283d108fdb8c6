import { describe, expect, test } from 'vitest';
import { folder, isLinux } from '../support/index.ts';
import { WAYS } from './ways.ts';

/** What each command has, known or not. */
const SHAPE = {
  verdict: expect.stringMatching(/^(passed|failed|unproven)$/),
  state: expect.stringMatching(isLinux ? /^(known|partial)$/ : /^unknown$/),
  parts: expect.any(Array),
  partsTotal: expect.any(Number),
  masked: expect.any(Array),
  tests: [],
  checks: [],
  tap: null,
};

/** What a command sees of its surroundings. The mark of a run and the pids differ each time. */
const SURROUNDINGS = [
  'env | grep -v ^AGENT_BASH_ID=',
  'export -p | grep -v AGENT_BASH_ID=',
  'ls /proc/self/fd; ls /proc/$$/fd',
  `false | true | (exit 3); echo "$? $- $SHLVL \${#BASHOPTS}"`,
  'trap; set +o; shopt -p; ulimit -a',
].join('\n');

/** What it sees with words that no warm shell serves. */
const MORE_SURROUNDINGS = [
  `cat /proc/self/environ | tr '\\0' '\\n' | grep -v ^AGENT_BASH_ID=`,
  // A session's shell reads its state from a descriptor whose number differs.
  `tr '\\0' '\\n' </proc/$$/environ | grep -v -e ^AGENT_BASH_ID= -e ^BASH_ENV=/proc`,
  `false | true | (exit 3); echo "\${PIPESTATUS[*]}"`,
].join('\n');

describe.each(WAYS)('a command that runs %s', (_, run) => {
  test('has evidence, as plain data', async () => {
    const { exitCode, evidence } = await run('true | false', { evidence: 'status' });
    expect(exitCode).toBe(1);
    expect(evidence).toMatchObject({ ...SHAPE, verdict: 'failed' });
    expect(JSON.parse(JSON.stringify(evidence))).toStrictEqual(evidence);
    expect(structuredClone(evidence)).toStrictEqual(evidence);
  });

  test.runIf(isLinux)('has its hidden failures, each with its place', async () => {
    const { exitCode, evidence } = await run(`sh -c 'exit 3' | cat; (exit 2); true`, { evidence: 'status' });
    expect(exitCode).toBe(0);
    expect(evidence).toMatchObject({ verdict: 'failed', state: 'known' });
    // A way may put a command of its own in front.
    const [first, ...masked] = evidence?.masked ?? [];
    const start = first?.span?.[0] ?? Number.NaN;
    const common = { signal: null, times: 1 };
    expect([first, ...masked]).toEqual([
      { ...common, command: `sh -c 'exit 3'`, span: [start, start + 14], exitCode: 3, by: 'pipe', behind: 'cat' },
      { ...common, command: '(exit 2)', span: [start + 22, start + 30], exitCode: 2, by: 'sequence', behind: 'true' },
    ]);
    expect(evidence?.parts).toContainEqual({ ...common, command: 'cat', span: [start + 17, start + 20], exitCode: 0 });
    for (const stopped of [`set -e; sh -c 'exit 3'; true`, `sh -c 'exit 3'; code=$?; true; exit $code`]) {
      expect((await run(stopped, { evidence: 'status' })).evidence).toMatchObject({ verdict: 'failed', masked: [] });
    }
    expect((await run('/bin/true | cat', { evidence: 'status' })).evidence).toMatchObject({
      verdict: 'passed',
      why: null,
      state: 'known',
      masked: [],
      notKnown: null,
    });
  });

  test('has none without the option', async () => {
    expect((await run('true')).evidence).toBeNull();
    expect((await run('true', { evidence: 'off' })).evidence).toBeNull();
  });

  test.runIf(isLinux).each([
    ['where a warm shell may serve', SURROUNDINGS],
    ['where none may', MORE_SURROUNDINGS],
  ])('sees nothing of the witness %s', async (_, command) => {
    const reads = { cwd: folder(), inheritEnv: 'none' } as const;
    const [off, on] = [await run(command, reads), await run(command, { ...reads, evidence: 'status' })];
    expect(on.evidence).not.toBeNull();
    expect(on.exitCode).toBe(off.exitCode);
    // Each world has a directory of its own.
    const worlds = /world-\w+/g;
    expect(on.text.replaceAll(worlds, '')).toBe(off.text.replaceAll(worlds, ''));
    expect(on.text).not.toMatch(/LD_PRELOAD|ld\.so/);
  });

  test.runIf(isLinux)('keeps the library of its caller', async () => {
    const shows = 'echo "$LD_PRELOAD"; env | grep ^LD_; declare -p LD_PRELOAD';
    for (const LD_PRELOAD of ['libc.so.6', '']) {
      const env = { LD_PRELOAD };
      const [off, on] = [await run(shows, { env }), await run(shows, { env, evidence: 'status' })];
      expect(on.text).toEqual(off.text);
      expect(on.text).toContain(`LD_PRELOAD=${LD_PRELOAD}`);
    }
  });
});
