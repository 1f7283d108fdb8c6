import { type AnalyzeOptions, type Decision, decide } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { judge } from './support.ts';

type Rules = Parameters<typeof decide>[1];

const decided = (command: string, rules: Rules, options?: AnalyzeOptions): Decision =>
  decide(judge(command, options), rules);
const verdict = (command: string, rules: Rules) => decided(command, rules).verdict;

describe('the strictest wins', () => {
  test.each<[string, string, Rules]>([
    ['deny', 'git add .', {}],
    ['deny', 'git add .', { allow: ['git add:*', 'git:*'] }],
    ['deny', 'ls && git add .', { allow: ['ls', 'git add:*'], ask: ['ls'] }],
    ['deny', 'ls', { allow: ['ls'], deny: ['ls'] }],
    ['deny', 'ls', { ask: ['ls'], deny: ['ls:*'] }],
    ['deny', 'git reset --hard', { deny: ['git reset:*'] }],
    ['ask', 'git reset --hard', {}],
    ['ask', 'git reset --hard', { allow: ['git reset:*', 'git reset --hard'] }],
    ['ask', '$CMD x', { allow: ['x:*'] }],
    ['ask', 'ls', { allow: ['ls'], ask: ['ls'] }],
    ['ask', 'make', { allow: ['pwd'] }],
    ['allow', 'ls', { allow: ['pwd'] }],
    ['ask', 'ls', { allow: [] }],
    ['ask', 'if', { allow: ['if:*'] }],
    ['allow', 'ls', { allow: ['ls'] }],
    ['allow', 'ls && pwd', { allow: ['ls', 'pwd'] }],
    ['ask', 'ls && make', { allow: ['ls'] }],
    ['ask', 'ls "$(make)"', { allow: ['ls:*'] }],
    ['allow', 'ls "$(make)"', { allow: ['ls:*', 'make'] }],
    ['ask', 'ls | tee a', { allow: ['ls'] }],
  ])('%s: %s with %j', (expected, command, rules) => {
    expect(verdict(command, rules)).toBe(expected);
  });

  test('without an `allow` list the analysis decides', () => {
    expect(verdict('anything at all', {})).toBe('allow');
    expect(verdict('anything at all', { ask: ['other'], deny: ['more'] })).toBe('allow');
    expect(decide(judge('git add .', { rules: { 'git-blind-add': 'warn' } }), {}).verdict).toBe('allow');
    expect(decided('make > out', {}).unmatched).toEqual([]);
  });

  test('an incomplete analysis is not allowed', () => {
    expect(verdict('echo a\0b', { allow: ['echo:*'] })).toBe('ask');
    expect(verdict('ls; if', { allow: ['ls:*', 'if:*'] })).toBe('ask');
  });

  test('an analysis that has been stored decides the same', () => {
    const stored = JSON.parse(JSON.stringify(judge('npm test > out')));
    const rules = { allow: ['npm test', 'write:out'] };
    expect(decide(stored, rules)).toEqual(decided('npm test > out', rules));
  });
});

describe('rules for commands', () => {
  test.each<[boolean, string, string]>([
    [true, 'npm test', 'npm test'],
    [false, 'npm test', 'npm test -- --watch'],
    [false, 'npm test', 'npm'],
    [true, 'npm test:*', 'npm test'],
    [true, 'npm test:*', 'npm test -- --watch'],
    [false, 'npm test:*', 'npm tests'],
    [false, 'npm test:*', 'npm test:unit'],
    [true, 'npm run test:unit', 'npm run test:unit'],
    [true, 'npm run build:*', 'npm run build --prod'],
    [false, 'npm run build:*', 'npm run build-all'],
    [true, 'git:*', 'git status'],
    [true, 'git log:*', 'git log -p'],
    [false, 'git log:*', 'git logs'],
    [true, 'make', "m'ake'"],
    [true, 'git push:*', 'g\\it "push" -n'],
    [false, 'make', 'make -s'],
    [false, 'make:*', 'makefile'],
    [true, 'node a b:*', 'node a b c'],
    [false, 'node a b:*', 'node "a b" c'],
    [false, 'npm test:*', 'npm "$(cat x)"'],
    [false, 'cat:*', './cat x'],
    [false, 'cat:*', '/tmp/cat x'],
    [false, 'git log:*', './git log'],
    [true, './run.sh:*', './run.sh a'],
    [false, 'run.sh:*', './run.sh a'],
  ])('allow, %s: %j and %s', (allowed, rule, command) => {
    // The content of a substitution is a command of its own.
    expect(verdict(command, { allow: [rule, 'cat x'] })).toBe(allowed ? 'allow' : 'ask');
  });

  test.each([
    'git push',
    '/usr/bin/git push',
    './git push',
    'git -C sub push',
    'git --no-pager -c a.b=c push origin main',
    'git --git-dir=x --work-tree y push',
    'sudo git push',
    'timeout 5 git push',
    `bash -c 'git push'`,
    `ssh host 'cd x && git push'`,
    'echo main | xargs git push origin',
    'x=$(git push)',
    'f() { git push "$@"; }; f origin',
    'bash <<EOF\ngit push\nEOF',
    'ls && { git push; }',
    'g""it pu\\sh',
  ])('deny and ask look through everything: %s', (command) => {
    expect(verdict(command, { deny: ['git push:*'] })).toBe('deny');
    expect(verdict(command, { ask: ['git push:*'] })).toBe('ask');
  });

  test.each(['git status', 'git stash push', 'echo git push', `git commit -m 'git push'`])(
    'deny and ask do not match data: %s',
    (command) => {
      expect(verdict(command, { deny: ['git push:*'] })).toBe('allow');
      expect(verdict(command, { ask: ['git push:*'] })).toBe('allow');
    },
  );

  test.each([
    'sudo ls',
    'sudo -u dev ls',
    `su -c 'ls'`,
    `su - dev -c ls`,
    'ssh host ls',
    `ssh host 'ls'`,
    `sudo bash -c 'ls'`,
  ])('an allow rule does not look through sudo, su or ssh: %s', (command) => {
    expect(verdict(command, { allow: ['ls:*'] })).toBe('ask');
  });

  test.each(['timeout 5 npm test', 'nice -n 5 npm test', 'time npm test', `bash -c 'npm test'`, 'nohup npm test'])(
    'but through wrappers that add no rights and stay here: %s',
    (command) => {
      expect(verdict(command, { allow: ['npm test'] })).toBe('allow');
    },
  );
});

describe('rules for files that are written', () => {
  test.each<[boolean, string, string]>([
    [true, 'write:out.txt', 'ls > out.txt'],
    [true, 'write:out.txt', 'ls >> out.txt'],
    [true, 'write:out.txt', 'ls &> out.txt'],
    [true, 'write:out.txt', 'ls >| out.txt'],
    [true, 'write:out.txt', 'ls > ./out.txt'],
    [true, 'write:out.txt', 'ls > src/../out.txt'],
    [true, 'write:out.txt', 'ls > /home/dev/project/out.txt'],
    [false, 'write:out.txt', 'ls > other.txt'],
    [false, 'write:out.txt', 'ls > src/out.txt'],
    [true, 'write:*.txt', 'ls > a.txt'],
    [false, 'write:*.txt', 'ls > src/a.txt'],
    [true, 'write:src/**', 'ls > src/a/b.ts'],
    [false, 'write:src/**', 'ls > src/../b.ts'],
    [false, 'write:src/**', 'ls > ../src/a'],
    [false, 'write:**', 'ls > ../x'],
    [false, 'write:**', 'ls > /tmp/x'],
    [true, 'write:/tmp/**', 'ls > /tmp/x'],
    [false, 'write:/tmp/**', 'ls > /tmp/../etc/x'],
    [false, 'write:**', 'ls > "$(pwd)"'],
    [false, 'write:out.txt', '{ ls; } > other.txt'],
    [true, 'write:out.txt', '{ ls; } > out.txt'],
  ])('%s: %s and %s', (allowed, rule, command) => {
    expect(verdict(command, { allow: ['ls:*', 'pwd', rule] })).toBe(allowed ? 'allow' : 'ask');
  });

  test('are relative to the directory that the command starts in', () => {
    const allow = ['ls', 'cd:*', 'write:src/a'];
    expect(verdict('cd src && ls > a', { allow })).toBe('allow');
    expect(verdict('cd src && ls > src/a', { allow })).toBe('ask');
  });

  test.each([
    'ls >/dev/null',
    'ls 2>&1',
    'ls >/dev/null 2>&1',
    'ls &>/dev/null',
    'ls 2>/dev/null',
    'ls < in',
    'ls >&2',
  ])('no file is written: %s', (command) => {
    expect(decided(command, { allow: ['ls'] })).toMatchObject({ verdict: 'allow', unmatched: [] });
  });

  test('may ask and deny, too', () => {
    expect(verdict('ls > .env', { deny: ['write:.env'] })).toBe('deny');
    expect(verdict('cd src; ls > ../.env', { ask: ['write:.env'] })).toBe('ask');
  });
});

describe('commands that only read', () => {
  test('need no rule once there are some', () => {
    for (const command of ['cd packages/core && npm test', 'npm test | tail -20', 'npm test || true', 'git status'])
      expect(verdict(command, { allow: ['npm test:*'] }), command).toBe('allow');
    expect(verdict('ls', { allow: [] })).toBe('ask');
    expect(verdict('ls', { allow: ['read-only'] })).toBe('allow');
    expect(verdict('ls && make', { allow: ['read-only'] })).toBe('ask');
  });

  test('are asked about and denied by the same word', () => {
    expect(verdict('ls', { allow: ['ls'], ask: ['read-only'] })).toBe('ask');
    expect(verdict('make "$(ls)"', { deny: ['read-only'] })).toBe('deny');
    expect(verdict('make', { deny: ['read-only'] })).toBe('allow');
  });

  test('are marked in the analysis', () => {
    const commands = judge('cd a && make > /dev/null; git status; ls > b').commands;
    expect(commands.map(({ readOnly }) => readOnly)).toEqual(['yes', 'unknown', 'unknown', 'no']);
  });
});

test.each<[string, string]>([
  ['npm *', 'npm:*'],
  ['npm pub*', 'npm publish:*'],
  ['Bash(npm publish:*)', 'npm publish:*'],
  ['Bash(npm run test *)', 'npm run test:*'],
  ['/npm publish/', 'npm publish:*'],
])('a rule in the syntax of another tool is an error that names the rule to write: %s', (rule, instead) => {
  for (const list of ['allow', 'ask', 'deny'])
    expect(() => decided('npm publish', { [list]: [rule] })).toThrowError(
      expect.objectContaining({
        code: 'ERR_BASH_INVALID_ARG',
        message: expect.stringMatching(new RegExp(`^${list}: .*write "${instead.replace('*', '\\*')}"$`)),
      }),
    );
});

describe('the suggestions of a decision', () => {
  test('`unmatched` has the text of each command, and `write:PATH`', () => {
    const { verdict, unmatched } = decided('make -s && npm  "test" > out.txt; pwd', { allow: ['pwd'] });
    expect(verdict).toBe('ask');
    expect(unmatched).toHaveLength(3);
    expect(unmatched[0]).toBe('make -s');
    expect(unmatched[1]).toContain('npm  "test"');
    expect(unmatched[2]).toMatch(/^write:(.*\/)?out\.txt$/);
  });

  test('is empty where all is allowed', () => {
    expect(decided('ls && pwd', { allow: ['ls', 'pwd'] })).toEqual({
      verdict: 'allow',
      unmatched: [],
      suggestRules: [],
    });
  });

  test.each([
    ['git checkout main', 'git checkout:*'],
    ['git -C sub log -1', 'git -C sub log:*'],
    ['npm run build -- --prod', 'npm run build:*'],
    ['npm test', 'npm test:*'],
    ['docker compose up -d', 'docker compose up:*'],
    ['cargo test --all', 'cargo test:*'],
    ['ls -la src', 'ls:*'],
    ['make test V=1', 'make test:*'],
  ])('a rule is suggested by how many words a command has: %s', (command, rule) => {
    expect(decided(command, { allow: [] }).suggestRules).toContain(rule);
  });

  test.each([
    'sudo apt-get update',
    'su -c ls',
    'ssh host ls',
    'env A=1 ls',
    'timeout 5 ls',
    `bash -c 'ls'`,
    'bash script.sh',
    'sh -x y',
    'xargs ls',
    'ls | xargs wc',
    `eval 'ls'`,
    'python3 x.py',
    `python3 -c 'print(1)'`,
    'node x.js',
    'ruby x.rb',
    'perl -e 1',
    `awk '{print}' x`,
    'npx tsc',
    'find . -exec wc {} +',
    'watch ls',
    'nohup ls',
  ])('never for wrappers and interpreters: %s', (command) => {
    const wrapper = /^(sudo|su|ssh|env|timeout|bash|sh|xargs|eval|python3|node|ruby|perl|awk|find|watch|nohup)\b/;
    expect(decided(command, { allow: [] }).suggestRules.filter((rule) => wrapper.test(rule))).toEqual([]);
  });

  test('never for the content of a heredoc', () => {
    expect(decided('bash <<EOF\nmake x\nEOF', { allow: [] }).suggestRules.join()).not.toContain('make');
    expect(decided('cat <<EOF\n$(make x)\nEOF', { allow: [] }).suggestRules.join()).not.toContain('make');
    expect(decided('cat <<EOF | bash\nmake x\nEOF', { allow: [] }).suggestRules).toEqual([]);
    expect(decided('x=$(cat <<EOF\nmake x\nEOF\n); eval "$x"', { allow: [] }).suggestRules).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['analysis', [undefined, {}]],
    ['analysis', [{}, {}]],
    ['rules', [judge('ls'), 7]],
    ['allow', [judge('ls'), { allow: 'ls' }]],
    ['a rule', [judge('ls'), { deny: [7] }]],
  ])('wrong types of %s: a throw with ERR_BASH_INVALID_ARG', (_, values) => {
    const [analysis, rules] = values as [never, never];
    expect(() => decide(analysis, rules)).toThrowError(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
  });
});
