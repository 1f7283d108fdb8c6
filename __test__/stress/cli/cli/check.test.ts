import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type Analysis, analyze, type Decision, type SafetyRule, safetyRules } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { type Ended, Program } from '../../../cli/support.ts';
import { folder } from '../../../support/index.ts';

const check = (...args: string[]): Promise<Ended> => new Program().run('check', ...args);

/** The same with the command on standard input. */
async function checkInput(command: string, ...args: string[]): Promise<Ended> {
  const { child, ended } = new Program().start(['check', '-', ...args], ['pipe', 'pipe', 'pipe']);
  child.stdin?.end(command);
  return ended;
}

describe('check', () => {
  test.each([
    [0, 'allow', ['echo hi']],
    [0, 'warn', ['git reset --hard', '--rule', 'git-reset-hard=warn']],
    [1, 'ask', ['git reset --hard']],
    [2, 'deny', ['git push --force']],
    [0, 'allow', ['git push --force', '--rule', 'git-force-push=off']],
    [1, 'ask', ['git push --force', '--rule', 'git-force-push=ask', '--rule', 'git-reset-hard=off']],
    [0, 'allow', ['git log', '--allow', 'git log:*']],
    [1, 'ask', ['git fetch', '--allow', 'git status']],
    [0, 'allow', ['git log', '--allow', 'git status']],
    [1, 'ask', ['git log', '--allow', 'git log:*', '--ask', 'git:*']],
    [2, 'deny', ['git log', '--allow', 'git log:*', '--ask', 'git:*', '--deny', 'git log']],
  ])('ends with %d: %s for %j', async (code, verdict, args) => {
    const json = JSON.parse((await check(...args, '--json')).stdout) as Analysis & { decision?: Decision };
    expect(json.decision?.verdict ?? json.verdict).toBe(verdict);
    expect(await check(...args)).toMatchObject({ code, stderr: '' });
  });

  test.each([
    [[], 'there is no command to check'],
    [['ls', '--rule', 'no-such-rule=off'], 'no-such-rule'],
    [['ls', '--rule', 'git-clean=never'], 'off, warn, ask or deny'],
    [['ls', '--rule', 'git-clean'], 'off, warn, ask or deny'],
    [['ls', '--allow', ''], 'agent-bash: '],
    [['ls', '--deny', 'npm *'], 'agent-bash: deny: "npm *": * stands only in :* at the end'],
    [['ls', '--no-such-option'], '--no-such-option'],
  ])('%j has an exit code of its own', async (args, words) => {
    const { code, stdout, stderr } = await check(...args);
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('prints the analysis as JSON', async () => {
    const cwd = realpathSync(folder());
    const command = 'cd sub && git reset --hard';
    const { stdout } = await check(command, '--json', '--cwd', cwd);
    expect(JSON.parse(stdout)).toEqual(analyze(command, { cwd }));
    expect(stdout.split('\n')).toHaveLength(2);
  });

  test('prints the decision with it when there are rules', async () => {
    const { decision } = JSON.parse((await check('npm test', '--json', '--allow', 'ls')).stdout);
    expect(decision).toMatchObject({ verdict: 'ask', unmatched: ['npm test'] });
  });

  test('reads the command from standard input', async () => {
    const command = "cat <<'EOF'\nthe text\nEOF\ngit push --force\n";
    const { code, stdout } = await checkInput(command, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout).command).toBe(command.trimEnd());
  });

  test('shows the commands as a tree, and underlines the finding', async () => {
    const { stdout } = await check(
      "npm test && sudo bash -c 'cd /opt; git reset --hard'",
      '--cwd',
      '/home/dev/project',
    );
    const [verdict, , ...lines] = stdout.split('\n');
    expect(verdict).toMatch(/^ask/);
    expect(lines.slice(0, 4)).toEqual([
      '├─ npm test',
      "└─ sudo bash -c 'cd /opt; git reset --hard'",
      '   ├─ bash -c: cd /opt',
      '   └─ bash -c: git reset --hard  in /opt',
    ]);
    const at = lines.findIndex((line) => line.startsWith('ask git-reset-hard'));
    expect(lines[at]).toBe('ask git-reset-hard (exact, through sudo › bash -c)');
    expect(lines[at + 1]).toBe("  npm test && sudo bash -c 'cd /opt; git reset --hard'");
    expect(lines[at + 2]).toBe(`  ${' '.repeat(25)}${'^'.repeat(27)}`);
    expect(lines[at + 4]).toMatch(/^ {2}instead: /);
  });

  test.each([
    ['wide characters', 'echo 日本語 👩‍👩‍👧 é && git push -f', ' '.repeat(20)],
    ['tabs', 'echo\ta &&\tgit push -f', ' '.repeat(10)],
    ['control characters', 'echo "\u001b[31m\u202e" && git push -f', ' '.repeat(17)],
  ])('underlines the spot behind %s', async (_, command, blanks) => {
    const lines = (await check(command)).stdout.split('\n');
    const at = lines.findIndex((line) => line.startsWith('deny git-force-push'));
    expect(lines[at + 2]).toBe(`  ${blanks}${'^'.repeat(11)}`);
    expect([...lines.join('')].filter((character) => ['\u001b', '\u202e'].includes(character))).toEqual([]);
  });

  test('underlines on the line where it is, and on each of several', async () => {
    const lines = (await check('echo one\necho two; git push \\\n  --force\necho three')).stdout.split('\n');
    const at = lines.findIndex((line) => line.startsWith('deny git-force-push'));
    expect(lines.slice(at + 1, at + 5)).toEqual([
      '  echo two; git push \\',
      `  ${' '.repeat(10)}${'^'.repeat(10)}`,
      '    --force',
      '  ^^^^^^^^^',
    ]);
  });

  test('cuts long lines around the spot', async () => {
    const long = `echo ${'a'.repeat(500)} && git push -f && echo ${'b'.repeat(500)}`;
    const lines = (await check(long)).stdout.split('\n');
    const at = lines.findIndex((line) => line.startsWith('deny git-force-push'));
    expect(lines[at + 1]?.length).toBeLessThan(110);
    expect(lines[at + 1]?.slice(lines[at + 2]?.indexOf('^'))).toMatch(/^git push -f && /);
    expect(lines[at + 2]?.trim()).toBe('^'.repeat(11));
  });

  test('has colours where they are wanted', async () => {
    const coloured = await new Program({ FORCE_COLOR: '1' }).run('check', 'git push -f');
    expect(coloured.stdout).toContain('\u001b[31mdeny\u001b[0m');
    const plain = await new Program({ FORCE_COLOR: '1', NO_COLOR: '1' }).run('check', 'git push -f');
    expect(plain.stdout).not.toContain('\u001b');
  });

  test('lists the rules', async () => {
    const rules = safetyRules();
    const { code, stdout } = await check('--rules');
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(rules.map(({ id }) => id));
    expect(JSON.parse((await check('--rules', '--json')).stdout) as SafetyRule[]).toEqual(rules);
  });

  test('judges with the environment that it has', async () => {
    expect((await check('rm -rf "$HOME"')).code).toBe(2);
    expect((await new Program({ TARGET: homedir() }).run('check', 'rm -rf "$TARGET"')).code).toBe(2);
  });

  test('judges what no shell could run, too', async () => {
    for (const command of ['', 'echo "', '((((', ')', 'a\\']) {
      expect([0, 1]).toContain((await checkInput(command)).code);
    }
  });
});
