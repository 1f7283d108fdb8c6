import { type AnalyzeOptions, analyze, type BashError, type CommandUnit, type Finding } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { judge, where } from './support.ts';

/** The units of a name, of which there must be one at least. */
function units(command: string, name: string, options?: AnalyzeOptions): CommandUnit[] {
  const found = judge(command, options).commands.filter((unit) => unit.name === name);
  expect(found.length, `${name} in ${command}`).toBeGreaterThan(0);
  return found;
}

const unit = (command: string, name: string, options?: AnalyzeOptions) =>
  units(command, name, options)[0] as CommandUnit;
const texts = ({ argv }: CommandUnit) => argv.map(({ text }) => text);
const at = (command: string, [start, end]: [number, number]) => command.slice(start, end);

function finding(command: string, rule: string, options?: AnalyzeOptions): Finding {
  const found = judge(command, options).findings.find(({ ruleId }) => ruleId === rule);
  expect(found, `${rule} in ${command}`).toBeDefined();
  return found as Finding;
}

describe('the shape of an analysis', () => {
  test('of a harmless command, whole', () => {
    expect(judge('ls -la src')).toMatchObject({
      command: 'ls -la src',
      cwd: where.cwd,
      verdict: 'allow',
      complete: true,
      readOnly: 'yes',
      findings: [],
      commands: [
        {
          name: 'ls',
          path: 'ls',
          argv: [
            { text: 'ls', known: true },
            { text: '-la', known: true },
            { text: 'src', known: true },
          ],
          prefix: [],
          assignments: [],
          redirects: [],
          cwd: where.cwd,
          via: [],
          span: [0, 10],
        },
      ],
    });
  });

  test('of a finding, whole', () => {
    const command = 'npm test && git push --force';
    expect(judge(command).findings).toEqual([
      {
        ruleId: 'git-force-push',
        level: 'deny',
        confidence: 'exact',
        span: [12, 28],
        argv: ['git', 'push', '--force'],
        via: [],
        message: expect.stringContaining('git push --force is not allowed'),
        suggestion: expect.any(String),
      },
    ]);
  });

  test.each([
    'git add . && sudo rm -rf /opt/x',
    'f() { echo "$1" > out 2>&1; }; f a | cat <<< b',
    '$CMD "$(date)" <in',
    'echo "é 🎉" && git reset --hard',
    'if',
    'a\0b',
  ])('is plain data: %j', (command) => {
    const analysis = judge(command);
    expect(structuredClone(analysis)).toStrictEqual(analysis);
    expect(JSON.parse(JSON.stringify(analysis))).toStrictEqual(analysis);
    expect(judge(command)).toStrictEqual(analysis);
  });

  test.each([
    ['', true],
    ['   \n\t\n', true],
    ['# only a comment', true],
  ])('nothing to run: %j', (command, complete) => {
    expect(judge(command)).toMatchObject({ verdict: 'allow', complete, findings: [], commands: [] });
  });

  test('the messages that the policy has', () => {
    expect(finding('git add .', 'git-blind-add').message).toBe(
      'permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, specify files explicitly',
    );
    expect(finding('git push -f', 'git-force-push').message).toBe(
      'permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, or push without force',
    );
    expect(finding('rm -rf ~', 'rm-critical').message).toBe(
      'permission denied: this rm command could delete critical data (.git, home directory, or root). Specify the full path explicitly (no wildcards, ~, or $HOME)',
    );
  });
});

describe('spans', () => {
  test('are half-open offsets of each command', () => {
    const command = 'cd src; ls -la | wc -l && echo "a b" > out &';
    expect(judge(command).commands.map(({ span }) => at(command, span))).toEqual([
      'cd src',
      'ls -la',
      'wc -l',
      'echo "a b" > out',
    ]);
  });

  test('count UTF-16 units', () => {
    const command = 'echo "🎉 é 日本"; git add .';
    const { span } = finding(command, 'git-blind-add');
    expect(span).toEqual([16, 25]);
    expect(at(command, span)).toBe('git add .');
    expect(at(command, unit(command, 'echo').span)).toBe('echo "🎉 é 日本"');
  });

  test('of a substitution are its own', () => {
    const command = 'echo "🎉 $(git add .) b"';
    expect(at(command, finding(command, 'git-blind-add').span)).toBe('git add .');
  });

  test.each([
    [`bash -c 'cd x; git add .'`, `'cd x; git add .'`],
    [`echo 🎉 && bash -c "ls; git add ."`, `"ls; git add ."`],
    [`sudo sh -c 'git add .' x`, `'git add .'`],
    [`eval "git add ."`, `"git add ."`],
    [`trap 'git add .' EXIT`, `'git add .'`],
  ])('of nested code are those of the outer word: %s', (command, word) => {
    expect(at(command, finding(command, 'git-blind-add').span)).toBe(word);
  });

  test('lie within the command, and units are in the order of the text', () => {
    const command = 'a "$(b)" | c\nd <<EOF\n$(e)\nEOF\nf() { g; }; f; h';
    const starts = judge(command).commands.map(({ span: [start, end] }) => {
      expect(start).toBeLessThan(end);
      expect(end).toBeLessThanOrEqual(command.length);
      return start;
    });
    expect(starts.length).toBeGreaterThanOrEqual(7);
  });
});

describe('words around a command', () => {
  test('wrappers before it in the same command are its prefix', () => {
    const [one, ...more] = units('sudo -u root nice -n 5 rm -f x', 'rm');
    expect(more).toEqual([]);
    expect(one?.prefix).toEqual(['sudo', '-u', 'root', 'nice', '-n', '5']);
    expect(one?.via).toEqual(['sudo', 'nice']);
    expect(texts(one as CommandUnit)).toEqual(['rm', '-f', 'x']);
  });

  test.each([
    ['ls', []],
    ['sudo ls', ['sudo']],
    ['env A=1 timeout 5 ls', ['env', 'timeout']],
    [`bash -c 'ls'`, ['bash -c']],
    [`sudo bash -c 'ls'`, ['sudo', 'bash -c']],
    [`bash -c 'sudo ls'`, ['bash -c', 'sudo']],
    [`eval 'ls'`, ['eval']],
    ['ssh host ls', ['ssh']],
    ['ls x | xargs sudo ls', ['xargs', 'sudo']],
  ])('the chain that it came through: %s', (command, via) => {
    expect(units(command, 'ls').map((each) => each.via)).toContainEqual(via);
  });

  test('a heredoc that a shell reads is in the chain', () => {
    const [inner] = units('bash <<EOF\nls\nEOF', 'ls');
    expect(inner?.via.join(' ')).toContain('heredoc');
    expect(unit('cat <<EOF\n$(ls)\nEOF', 'ls').name).toBe('ls');
  });

  test('assignments before it', () => {
    expect(unit('A=1 B="x y" env C=2 npm test', 'npm').assignments.slice(0, 2)).toEqual(['A=1', 'B="x y"']);
    expect(unit('A=1; npm test', 'npm').assignments).toEqual([]);
  });

  test('redirects, with absolute paths', () => {
    expect(unit('make > out.log 2>&1 < ../in >>/tmp/x', 'make').redirects).toEqual([
      { op: '>', fd: null, target: { text: 'out.log', known: true }, path: '/home/dev/project/out.log' },
      { op: '>&', fd: 2, target: { text: '1', known: true }, path: null },
      { op: '<', fd: null, target: { text: '../in', known: true }, path: '/home/dev/in' },
      { op: '>>', fd: null, target: { text: '/tmp/x', known: true }, path: '/tmp/x' },
    ]);
    expect(unit('cd src && make > a/../b', 'make').redirects[0]?.path).toBe('/home/dev/project/src/b');
    expect(unit('ls > ~/x', 'ls').redirects[0]?.path).toBe('/home/dev/x');
    expect(unit('ls > "$(date).log"', 'ls').redirects[0]).toMatchObject({ target: { known: false }, path: null });
    expect(unit('ls <<< word', 'ls').redirects[0]).toMatchObject({ op: '<<<', path: null });
  });

  test('a further destination of a redirect is an argument', () => {
    expect(texts(unit('git push 2>&1 --force', 'git'))).toEqual(['git', 'push', '--force']);
    expect(texts(unit('>out ls 2>/dev/null a <in b', 'ls'))).toEqual(['ls', 'a', 'b']);
  });

  test.each([
    ['cd src && ls', '/home/dev/project/src'],
    ['cd ../.. ; ls', '/home'],
    ['cd /opt/x/../y; ls', '/opt/y'],
    ['cd; ls', '/home/dev'],
    ['cd ~/x && ls', '/home/dev/x'],
    ['pushd /tmp; ls', '/tmp'],
    ['pushd /tmp; popd; ls', '/home/dev/project'],
    ['(cd /tmp); ls', '/home/dev/project'],
    ['(cd /tmp && ls)', '/tmp'],
    ['x=$(cd /tmp); ls', '/home/dev/project'],
    ['cd /tmp | cat; ls', '/home/dev/project'],
    ['cd /tmp & ls', '/home/dev/project'],
    ['f() { cd /tmp; }; f; ls', '/tmp'],
    [`bash -c 'cd /tmp'; ls`, '/home/dev/project'],
    [`bash -c 'cd /tmp; ls'`, '/tmp'],
    [`eval 'cd /tmp'; ls`, '/tmp'],
    ['d=/tmp; cd "$d"; ls', '/tmp'],
    ['cd "$(git rev-parse --show-toplevel)"; ls', null],
    ['cd "$(x)"; cd /tmp; ls', '/tmp'],
  ])('the directory after `cd`: %s', (command, cwd) => {
    expect(unit(command, 'ls').cwd).toBe(cwd);
  });
});

describe('what words are worth', () => {
  test.each<[string, string[]]>([
    [`echo 'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
    [`echo g""i't'$'\\x20'`, ['git ']],
    [`echo $'\\u00e9\\n\\101'`, ['é\nA']],
    ['x=1; echo $x "${x}2" \'$x\'', ['1', '12', '$x']],
    ['x="a b"; echo $x "$x"', ['a', 'b', 'a b']],
    ['x=1 echo $HOME', ['/home/dev']],
    ['echo ~ ~/x "~" a~', ['/home/dev', '/home/dev/x', '~', 'a~']],
    ['echo {a,b}{1..2}', ['a1', 'a2', 'b1', 'b2']],
    ['echo {a,} {x} {}', ['a', '{x}', '{}']],
    ['a=(x "y z"); echo "${a[@]}" ${#a[@]}', ['x', 'y z', '2']],
    ['set -- a "b c"; echo "$@" $#', ['a', 'b c', '2']],
    ['echo ${NOT_SET:-d} ${NOT_SET} "$NOT_SET"', ['d', '']],
    ['echo $USER $PWD', ['dev', '/home/dev/project']],
  ])('known: %s', (command, words) => {
    const { argv } = unit(command, 'echo');
    expect(argv.slice(1)).toEqual(words.map((text) => ({ text, known: true })));
  });

  test.each([
    ['echo "$(date)"', '"$(date)"'],
    ['echo `date`', '`date`'],
    ['read -r x; echo "$x"', '"$x"'],
    ['echo $RANDOM', '$RANDOM'],
    ['source lib.sh; echo "$X"', '"$X"'],
  ])('not known, and told as it is written: %s', (command, text) => {
    expect(unit(command, 'echo').argv.slice(1)).toEqual([{ text, known: false }]);
  });

  test('the head: a name, a path, or not known', () => {
    expect(unit('/usr/bin/git status', 'git')).toMatchObject({ name: 'git', path: '/usr/bin/git' });
    expect(unit('./cat x', 'cat')).toMatchObject({ name: 'cat', path: './cat' });
    expect(unit('$(npm bin)/eslint .', 'eslint').name).toBe('eslint');
    const [head] = judge('$CMD x').commands;
    expect(head?.name).toBeNull();
    expect(judge('A=1').commands.every(({ name }) => name === null)).toBe(true);
  });

  test('the environment and the home are the ones that are given', () => {
    const env = { HOME: '/root', D: '/' };
    expect(judge('rm -rf "$D"', { env }).verdict).toBe('deny');
    expect(judge('rm -rf "$D"', { env: { ...env, D: 'dist' } }).verdict).toBe('allow');
    expect(judge('rm -rf "$D/"', { env: { ...env, D: undefined } }).verdict).toBe('deny');
    expect(judge('echo ~', { home: '/h', env: {} }).commands[0]?.argv[1]).toEqual({ text: '/h', known: true });
  });

  test('the directory is the one that is given, and the own one without it', () => {
    expect(judge('rm -rf /a/b/c', { cwd: '/a/b/c' }).verdict).toBe('deny');
    expect(judge('rm -rf /a/b/c/d', { cwd: '/a/b/c' }).verdict).toBe('allow');
    expect(analyze('ls').cwd).toBe(process.cwd());
    expect(analyze('ls').commands[0]?.cwd).toBe(process.cwd());
  });
});

describe('readOnly', () => {
  test.each([
    'ls -la',
    'cat a b',
    'grep -rn x src | head',
    'wc -l < file',
    'echo a >/dev/null 2>&1',
    'cd src && ls',
    'find . -name x',
    'ls 2>/dev/null || true',
  ])('yes: %s', (command) => expect(judge(command).readOnly).toBe('yes'));

  test.each([
    'rm x',
    'echo a > out',
    'ls; touch x',
    'tee x',
    'find . -delete',
    'sed -i s/a/b/ x',
    'git commit -m x',
    'cat $(rm x)',
    'bash -c "rm x"',
    'mkdir x',
  ])('not: %s', (command) => expect(judge(command).readOnly).not.toBe('yes'));

  test.each(['./cat x', '/tmp/ls', 'git status', '$CMD', './script.sh', 'some-tool'])(
    'git and programs by a path or of no known kind inherit no trust: %s',
    (command) => expect(judge(command).readOnly).not.toBe('yes'),
  );
});

describe('settings', () => {
  test.each([
    ['off', 'allow'],
    ['warn', 'warn'],
    ['ask', 'ask'],
    ['deny', 'deny'],
  ] as const)('a rule by its id: %s', (level, verdict) => {
    expect(judge('git add .', { rules: { 'git-blind-add': level } }).verdict).toBe(verdict);
    expect(judge('rm -rf /', { rules: { 'git-blind-add': level } }).verdict).toBe('deny');
  });

  test('a rule that asks may deny', () => {
    expect(judge('git stash drop', { rules: { 'git-stash-drop': 'deny' } }).verdict).toBe('deny');
    // Only an exact finding denies.
    expect(judge('mytool git stash drop', { rules: { 'git-stash-drop': 'deny' } }).verdict).toBe('ask');
  });

  test.each([
    ['exec-rest', 'mywrap git add .', 'deny'],
    ['exec-rest', 'mywrap rm -rf /', 'deny'],
    ['exec-rest', 'mywrap ls', 'allow'],
    ['shell-string', `mywrap 'cd x && git add .'`, 'deny'],
    ['shell-string', `mywrap 'ls'`, 'allow'],
    ['stdin-script', `mywrap <<< 'git add .'`, 'deny'],
    ['stdin-script', 'mywrap <<EOF\ngit add .\nEOF', 'deny'],
    ['stdin-script', `echo 'git add .' | mywrap`, 'deny'],
    ['per-item', 'echo . | mywrap git add', 'deny'],
  ] as const)('a wrapper of kind %s: %s', (kind, command, verdict) => {
    expect(judge(command, { wrappers: { mywrap: kind } }).verdict).toBe(verdict);
  });

  test('without it the text of an unknown program is no code', () => {
    expect(judge(`mywrap 'git add .'`).verdict).toBe('allow');
  });

  const wrong: [string, unknown[]][] = [['command', [undefined, null, 7, {}, ['ls'], Buffer.from('ls')]]];
  test.each(wrong)('wrong types of %s: a throw with ERR_BASH_INVALID_ARG', (_, values) => {
    for (const value of values) {
      expect(() => analyze(value as string), String(value)).toThrowError(
        expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' } satisfies Partial<BashError>),
      );
    }
  });

  test.each<[string, unknown]>([
    ['options', 7],
    ['options', null],
    ['cwd', { cwd: 7 }],
    ['cwd', { cwd: 'a\0b' }],
    ['home', { home: {} }],
    ['env', { env: 'x' }],
    ['env', { env: { A: 7 } }],
    ['rules', { rules: [] }],
    ['a level', { rules: { 'git-blind-add': 'never' } }],
    ['a rule', { rules: { 'no-such-rule': 'off' } }],
    ['wrappers', { wrappers: 'sudo' }],
    ['a kind of wrapper', { wrappers: { x: 'exec' } }],
  ])('wrong types of %s: a throw with ERR_BASH_INVALID_ARG: %j', (_, options) => {
    expect(() => analyze('ls', options as AnalyzeOptions)).toThrowError(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
    );
  });
});
