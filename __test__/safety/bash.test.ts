import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BashError, type BashOptions, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { ended, registry } from '../background/support.ts';
import { folder, rejection } from '../support/index.ts';

/** Programs that report that they ran. Without a repository no command here could do harm, should the engine fail. */
const denied = 'touch ran; git push --force';
const asked = 'touch ran; git stash clear';

async function refusal(command: string, options: BashOptions): Promise<BashError> {
  return (await rejection(() => bash(command, options))) as unknown as BashError;
}

describe('bash() refuses a denied command, before anything starts', () => {
  test.each([denied, `touch ran; bash -c 'git push -f'`, 'touch ran; echo "$(git add .)"', 'touch ran\nrm -rf .git'])(
    '%j',
    async (command) => {
      const cwd = folder();
      const error = await refusal(command, { cwd });
      expect(error.name).toBe('BashError');
      expect(error.code).toBe('ERR_BASH_BLOCKED');
      expect(error.message).toContain('permission denied');
      expect(error.findings?.[0]).toMatchObject({ level: 'deny', confidence: 'exact', message: error.message });
      expect(structuredClone(error.findings)).toStrictEqual(error.findings);
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  test('the spans of its findings are those of the command', async () => {
    const command = 'echo 🎉; git push --force';
    const { findings = [] } = await refusal(command, { cwd: folder() });
    expect(findings.map(({ span }) => command.slice(...span))).toEqual(['git push --force']);
  });

  test('in all modes', async () => {
    for (const mode of ['default', 'slow', 'background'] as const) {
      const cwd = folder();
      const options = { mode, cwd, ...(mode === 'background' && { registry: registry() }) };
      expect((await refusal(denied, options)).code).toBe('ERR_BASH_BLOCKED');
      expect(existsSync(join(cwd, 'ran'))).toBe(false);
    }
  });

  test('the directory and the environment of the command count', async () => {
    const cwd = folder();
    expect((await refusal('rm -rf "$D"', { cwd, env: { D: '.git' } })).code).toBe('ERR_BASH_BLOCKED');
    expect((await refusal(`rm -rf '${cwd}'`, { cwd })).code).toBe('ERR_BASH_BLOCKED');
    expect((await bash('rm -rf "$D"', { cwd, env: { D: 'nothing-there' } })).exitCode).toBe(0);
    expect(existsSync(cwd)).toBe(true);
  });

  test('a harmless command is judged again after any other change', async () => {
    const cwd = folder();
    const known = 'git push $WHERE';
    const harmless = { cwd, env: { WHERE: 'nowhere' } };
    for (let time = 0; time < 3; time++) expect((await bash(known, harmless)).status).toBe('exited');
    expect((await refusal(known, { cwd, env: { WHERE: '--force' } })).code).toBe('ERR_BASH_BLOCKED');
    const off = { rules: { 'git-force-push': 'off' } } as const;
    for (let time = 0; time < 3; time++) await bash('git push --force', { cwd, safety: off });
    expect((await refusal('git push --force', { cwd })).code).toBe('ERR_BASH_BLOCKED');
    const elsewhere = folder();
    for (let time = 0; time < 3; time++) await bash(`rm -rf ${cwd}/`, { cwd: elsewhere });
    mkdirSync(cwd, { recursive: true });
    expect((await refusal(`rm -rf ${cwd}/`, { cwd })).code).toBe('ERR_BASH_BLOCKED');
  });

  test('its standard input counts if a shell runs it', async () => {
    const cwd = folder();
    for (const stdin of [denied, Buffer.from(denied)]) {
      for (const command of ['bash', 'bash -s', 'cat | sh', 'source /dev/stdin']) {
        const error = await refusal(command, { cwd, stdin });
        expect([command, error.code]).toEqual([command, 'ERR_BASH_BLOCKED']);
        expect(error.findings?.[0]).toMatchObject({ ruleId: 'git-force-push', argv: ['git', 'push', '--force'] });
      }
    }
    expect(readdirSync(cwd)).toEqual([]);
    const { stdout, notes } = await bash('cat', { cwd, stdin: denied });
    expect([stdout, notes]).toEqual([denied, []]);
  });

  test('its arguments count', async () => {
    const cwd = folder();
    const command = 'touch ran; git push "$1"';
    const error = await refusal(command, { cwd, args: ['--force'] });
    expect(error.code).toBe('ERR_BASH_BLOCKED');
    expect(error.findings?.[0]).toMatchObject({ ruleId: 'git-force-push', argv: ['git', 'push', '--force'] });
    expect((await refusal('touch ran; "$@"', { cwd, args: ['git', 'add', '.'] })).code).toBe('ERR_BASH_BLOCKED');
    expect(readdirSync(cwd)).toEqual([]);
    // There is no repository.
    expect((await bash(command, { cwd, args: ['--dry-run'] })).notes).toEqual([]);
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
  });

  test.each(['default', 'slow', 'background'] as const)(
    'a command of more than 8 KiB, which is not judged on the caller’s thread: mode %j',
    async (mode) => {
      const cwd = folder();
      const options = { mode, cwd, ...(mode === 'background' && { registry: registry() }) };
      const long = `touch ran; : '${'x'.repeat(8 * 1024)}'`;
      const error = await refusal(`${long}; git push --force`, options);
      expect(error.code).toBe('ERR_BASH_BLOCKED');
      expect(error.findings?.[0]).toMatchObject({ ruleId: 'git-force-push', confidence: 'exact' });
      const asking = await refusal(`${long}; git stash clear`, { ...options, safety: { onAsk: 'deny' } });
      expect(asking.findings?.[0]).toMatchObject({ ruleId: 'git-stash-drop', level: 'ask' });
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  test('a harmless command runs without a note', async () => {
    const { stdout, notes } = await bash(`echo 'git push --force'; echo rm -rf /`, { cwd: folder() });
    expect([stdout, notes]).toEqual(['git push --force\nrm -rf /\n', []]);
  });
});

describe('commands to ask about', () => {
  test('runs with a note', async () => {
    const cwd = folder();
    const { notes } = await bash(asked, { cwd });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/stash/);
    expect((await bash(asked, { cwd, safety: { onAsk: 'allow' } })).notes).toEqual(notes);
    expect((await bash(asked, { cwd, safety: 'default' })).notes).toEqual(notes);
  });

  test('in a command of more than 8 KiB it runs with the same note', async () => {
    const cwd = folder();
    const { notes } = await bash(`${asked}; : '${'x'.repeat(8 * 1024)}'`, { cwd });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    expect(notes).toEqual((await bash(asked, { cwd })).notes);
    expect(notes).toHaveLength(1);
  });

  test(`is refused with onAsk: 'deny'`, async () => {
    const cwd = folder();
    const error = await refusal(asked, { cwd, safety: { onAsk: 'deny' } });
    expect(error.code).toBe('ERR_BASH_BLOCKED');
    expect(error.findings?.[0]).toMatchObject({ ruleId: 'git-stash-drop', level: 'ask' });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('so is a command that cannot be judged', async () => {
    const cwd = folder();
    const error = await refusal('touch ran; if', { cwd, safety: { onAsk: 'deny' } });
    expect(error.findings?.[0]?.ruleId).toBe('incomplete');
    const { exitCode, notes } = await bash('touch ran; if', { cwd });
    expect(exitCode).not.toBe(0);
    expect(notes).toHaveLength(1);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('the option `safety`', () => {
  test(`'off' judges nothing`, async () => {
    const cwd = folder();
    const { exitCode, notes } = await bash(denied, { cwd, safety: 'off' });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    // There is no repository.
    expect(exitCode).not.toBe(0);
    expect(notes).toEqual([]);
  });

  test.each([
    ['off', 0],
    ['warn', 1],
    ['ask', 1],
  ] as const)('a rule at another level: %s', async (level, count) => {
    const cwd = folder();
    const { notes } = await bash(denied, { cwd, safety: { rules: { 'git-force-push': level } } });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    expect(notes).toHaveLength(count);
  });

  test('a rule that asks may deny, and a wrapper may be named', async () => {
    const cwd = folder();
    const strict: BashOptions = { cwd, safety: { rules: { 'git-stash-drop': 'deny' } } };
    expect((await refusal(asked, strict)).code).toBe('ERR_BASH_BLOCKED');
    const wrapped: BashOptions = { cwd, safety: { wrappers: { mywrap: 'shell-string' } } };
    expect((await refusal(`mywrap 'git push -f'`, wrapped)).code).toBe('ERR_BASH_BLOCKED');
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([
    { safety: 7 },
    { safety: 'on' },
    { safety: { onAsk: 'never' } },
    { safety: { rules: { 'no-such-rule': 'off' } } },
    { safety: { rules: { 'git-force-push': 'loud' } } },
    { safety: { wrappers: { x: 'y' } } },
  ])('ERR_BASH_INVALID_ARG: %j', async (options) => {
    expect((await refusal('true', options as unknown as BashOptions)).code).toBe('ERR_BASH_INVALID_ARG');
  });
});

describe('BackgroundRegistry.start', () => {
  test('refuses a denied command, and has no task for it', async () => {
    const cwd = folder();
    const tasks = registry();
    const error = (await rejection(() => tasks.start(denied, { cwd }))) as unknown as BashError;
    expect(error.code).toBe('ERR_BASH_BLOCKED');
    expect(error.findings?.[0]?.ruleId).toBe('git-force-push');
    expect(tasks.list()).toEqual([]);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('runs a command to ask about, and refuses it with onAsk deny', async () => {
    const cwd = folder();
    const tasks = registry();
    const task = await tasks.start(asked, { cwd });
    await ended(tasks, task);
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
    const error = await rejection(() => tasks.start(asked, { cwd, safety: { onAsk: 'deny' } }));
    expect(error.code).toBe('ERR_BASH_BLOCKED');
    expect(tasks.list()).toHaveLength(1);
  });

  test(`'off' judges nothing`, async () => {
    const cwd = folder();
    const tasks = registry();
    await ended(tasks, await tasks.start(denied, { cwd, safety: 'off' }));
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
  });
});
