import { describe, expect, test } from 'vitest';
import { judge } from '../../../safety/support.ts';
import { cpuTimed } from '../../../support/index.ts';

describe('hostile input', () => {
  const KB = 1024;
  const repeat = (text: string, bytes = 256 * KB) => text.repeat(Math.ceil(bytes / text.length));

  test.each<[string, string]>([
    ['a NUL', 'echo a\0b'],
    ['only NULs', '\0'.repeat(100)],
    ['a lone surrogate', 'echo \ud800 a'],
    ['lone surrogates the wrong way round', '\udc00\ud800'.repeat(50)],
    ['a byte order mark', '\ufeffls'],
    ['control characters', '\x01\x02\x1b[31m\x7f'],
    ['an unclosed quote', 'echo "'],
    ['a lonely bracket', ')'],
  ])('%s: an answer, and not a throw', (_, command) => {
    const analysis = judge(command);
    expect(analysis.command).toHaveLength(command.length);
    expect(JSON.parse(JSON.stringify(analysis))).toStrictEqual(analysis);
  });

  test.each<[string, string]>([
    ['open parentheses', repeat('(')],
    ['parentheses with blanks', repeat('( ')],
    ['open substitutions', repeat('$(')],
    ['quoted open substitutions', repeat('"$(')],
    ['open braces', repeat('{ ')],
    ['braces of an expansion', `echo ${repeat('{a,b}')}`],
    ['nested braces of an expansion', `echo ${repeat('{a,')}`],
    ['backticks', `echo ${repeat('`')} \``],
    ['escaped backticks', repeat('`\\')],
    ['double quotes', `${repeat('"')}x"`],
    ['single quotes', `echo ${repeat("'a' '")}`],
    ['heredocs on a line', repeat('<<A ')],
    ['heredocs', repeat('cat <<A\n')],
    ['parameters', repeat('${x:-')],
    ['arithmetic', repeat('$((')],
    ['arithmetic commands', repeat('((')],
    ['conditions', repeat('[[ ( ')],
    ['ifs', repeat('if ')],
    ['cases', repeat('case x in x) ')],
    ['functions', repeat('f() {')],
    ['loops', repeat('while ')],
    ['dollars', repeat('$')],
    ['backslashes', `${repeat('\\')}`],
    ['process substitutions', repeat('<(')],
    ['bangs', repeat('! ')],
    ['backgrounds', repeat('a & ')],
    ['redirects', `a ${repeat('> b ')}`],
    ['brackets', repeat('[')],
    ['globs', `rm -rf ${repeat('*?')}`],
    ['hashes', repeat('#')],
    ['shells within shells', `${repeat('bash -c ')} x`],
    ['sudos', `${repeat('sudo ')} ls`],
    ['evals', `${repeat('eval ')} ls`],
    ['xargs of xargs', `${repeat('xargs ')} ls`],
    ['find of find', repeat('find . -exec ')],
    ['unknown programs with git', repeat('x git ')],
    ['unknown programs with rm', `x ${repeat('rm -rf ')}`],
    ['one long word', repeat('a')],
    ['many words', `echo ${repeat('a ')}`],
    ['many words behind one of several', `git add $((n)) ${repeat('a ', 32 * KB)}`],
    ['many words, each one of several', `git add ${repeat('$((n)) ', 32 * KB)}`],
    ['many commands', repeat('ls; ')],
    ['many lines', repeat('ls\n')],
    ['many assignments', repeat('a=$a$a; ')],
    ['a value that grows', `a=x; ${'a=$a$a; '.repeat(64)} echo $a`],
    ['a list that grows', `a=(x); ${'a=("${a[@]}" "${a[@]}"); '.repeat(64)} echo "\${a[@]}"`],
    ['a brace expansion that grows', `echo ${'{a,b,c,d}'.repeat(40)}`],
    ['a long sequence', 'echo {1..999999999} {a..z}{1..100000}'],
    ['a function that calls itself', 'f() { f; f; }; f'],
    ['functions that call one another', 'f() { g; g; }; g() { f; f; }; f'],
    [
      'a chain of functions, each twice',
      `${Array.from({ length: 40 }, (_, n) => `f${n}() { f${n + 1}; f${n + 1}; }; `).join('')}f0`,
    ],
    ['an eval of itself', `x='eval "$x; $x"'; eval "$x"`],
    ['loops in loops', `${'for i in 1 2 3 4 5 6 7 8 9; do '.repeat(12)}echo $i; ${'done; '.repeat(12)}`],
    ['a glob against a glob', `rm -rf ${'*a'.repeat(200)}*`],
    ['emoji', repeat('🎉')],
  ])('%s: an answer well under a second', (_, command) => {
    const [analysis, ms] = cpuTimed(() => judge(command));
    expect(ms).toBeLessThan(1_000);
    expect(['allow', 'warn', 'ask', 'deny']).toContain(analysis.verdict);
    // A command that could not be judged whole is never allowed.
    if (!analysis.complete) expect(['ask', 'deny']).toContain(analysis.verdict);
  });

  test.each(['(', '$(', '{ ', '`', '"', "'", '${', '$((', '<<A '])('256 KB of %j are not complete', (text) => {
    const command = `${repeat(text)}${text === '"' || text === "'" ? text : ''}`;
    expect(judge(command)).toMatchObject({ complete: text === '`' ? expect.any(Boolean) : false });
  });

  test('a danger is found behind much harmless text', () => {
    expect(judge(`${'echo a; '.repeat(5_000)}git add .`).verdict).not.toBe('allow');
    expect(judge(`${'( '.repeat(40)}git add .${' )'.repeat(40)}`).verdict).not.toBe('allow');
    expect(judge(`${'sudo '.repeat(300)}git add .`).verdict).not.toBe('allow');
    expect(judge(`# ${'x'.repeat(200_000)}\ngit add .`).verdict).toBe('deny');
  });
});
