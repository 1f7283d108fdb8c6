import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trailingLimit } from '../../ts/ai/trailing-limit.ts';

/** Command, what runs, what is kept. */
const TAKEN: [command: string, runs: string, keep: 'head' | 'tail', lines: number][] = [
  ['make | tail', 'make', 'tail', 10],
  ['make | head', 'make', 'head', 10],
  ['make | tail -n 5', 'make', 'tail', 5],
  ['make | tail -n5', 'make', 'tail', 5],
  ['make | tail -5', 'make', 'tail', 5],
  ['make | tail --lines=5', 'make', 'tail', 5],
  ['make | tail --lines 5', 'make', 'tail', 5],
  ['make | head -n 40', 'make', 'head', 40],
  ['make | head -n40', 'make', 'head', 40],
  ['make | head -40', 'make', 'head', 40],
  ['make | head --lines=40', 'make', 'head', 40],
  ['make|tail -3', 'make', 'tail', 3],
  ['make  |  tail   -n   3  ', 'make', 'tail', 3],
  ['\n  make | tail -3\n\n', '\n  make', 'tail', 3],
  ['make |\n  tail -3', 'make', 'tail', 3],
  ['make \\\n  | tail -3', 'make', 'tail', 3],
  ['a | grep b | tail -3', 'a | grep b', 'tail', 3],
  ['a | head -20 | tail -3', 'a | head -20', 'tail', 3],
  ['a |& grep b | tail -3', 'a |& grep b', 'tail', 3],
  ['npm test 2>&1 | tail -5', 'npm test 2>&1', 'tail', 5],
  ['npm test |& tail -5', 'npm test 2>&1', 'tail', 5],
  ['npm test > log 2>&1 | tail -5', 'npm test > log 2>&1', 'tail', 5],
  ['npm test 2>/dev/null | head -5', 'npm test 2>/dev/null', 'head', 5],
  ['npm test &>log | tail', 'npm test &>log', 'tail', 10],
  ['a 2>&1 | b 2>&1 | tail -1', 'a 2>&1 | b 2>&1', 'tail', 1],
  ['cd app && npm test | tail -5', 'cd app && npm test', 'tail', 5],
  ['cd app && npm test 2>&1 | tail -5', 'cd app && npm test 2>&1', 'tail', 5],
  ['cd app && a | b | head -2', 'cd app && a | b', 'head', 2],
  ['cd "my app" && make | tail -5', 'cd "my app" && make', 'tail', 5],
  ['cd ~/x && make | tail -5', 'cd ~/x && make', 'tail', 5],
  [
    'cd "$(git rev-parse --show-toplevel)" && make | tail -5',
    'cd "$(git rev-parse --show-toplevel)" && make',
    'tail',
    5,
  ],
  ['cd app &&\nmake | tail -5', 'cd app &&\nmake', 'tail', 5],
  ["grep 'a|b' f | head -3", "grep 'a|b' f", 'head', 3],
  ['grep "a | tail -3" f | head -3', 'grep "a | tail -3" f', 'head', 3],
  ['echo "x; y && z # no" | tail -1', 'echo "x; y && z # no"', 'tail', 1],
  ["echo $'it\\'s | tail' | tail -1", "echo $'it\\'s | tail'", 'tail', 1],
  ['echo a\\|b | tail -1', 'echo a\\|b', 'tail', 1],
  ['echo a\\  | tail -1', 'echo a\\ ', 'tail', 1],
  ['echo "$(ls | tail -2)" | tail -1', 'echo "$(ls | tail -2)"', 'tail', 1],
  ['echo $(ls; pwd) | tail -1', 'echo $(ls; pwd)', 'tail', 1],
  ['echo `ls | wc -l` | tail -1', 'echo `ls | wc -l`', 'tail', 1],
  ['echo $((1 + 2)) | tail -1', 'echo $((1 + 2))', 'tail', 1],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's expansion
  ['echo ${x%.*} "${y:-z}" | tail -1', 'echo ${x%.*} "${y:-z}"', 'tail', 1],
  ['echo a#b | tail -1', 'echo a#b', 'tail', 1],
  ['diff <(sort a) <(sort b) | head -20', 'diff <(sort a) <(sort b)', 'head', 20],
  ['a | tee >(cat >&2) | tail -1', 'a | tee >(cat >&2)', 'tail', 1],
  ['cat <<<"x | y" | tail -1', 'cat <<<"x | y"', 'tail', 1],
  ['sort < in | tail -1', 'sort < in', 'tail', 1],
  ['FOO=1 BAR="a b" make | tail -3', 'FOO=1 BAR="a b" make', 'tail', 3],
  ['time make | tail -3', 'time make', 'tail', 3],
  ['(a; b) | tail -3', '(a; b)', 'tail', 3],
  ['(cd x && make) 2>&1 | tail -3', '(cd x && make) 2>&1', 'tail', 3],
  ['{ a; b || c; } | tail -3', '{ a; b || c; }', 'tail', 3],
  ['for f in *; do node $f; done 2>&1 | tail -20', 'for f in *; do node $f; done 2>&1', 'tail', 20],
  ['for f in a b\ndo\n  echo $f | tail -1\ndone | tail -20', 'for f in a b\ndo\n  echo $f | tail -1\ndone', 'tail', 20],
  ['while read l; do echo $l; done < f | head -2', 'while read l; do echo $l; done < f', 'head', 2],
  ['until a; do b; done | head -2', 'until a; do b; done', 'head', 2],
  ['if a; then b; elif c; then d; else e; fi | tail -2', 'if a; then b; elif c; then d; else e; fi', 'tail', 2],
  ['(if a; then { b; }; fi) | c | tail -2', '(if a; then { b; }; fi) | c', 'tail', 2],
  ['exit 3 | tail -1', 'exit 3', 'tail', 1],
  ['find . -name \\( -o \\) | head -7', 'find . -name \\( -o \\)', 'head', 7],
  ['echo 漢字 "😀" | tail -1', 'echo 漢字 "😀"', 'tail', 1],
  ['echo {a,b} | tail -1', 'echo {a,b}', 'tail', 1],
  ['echo for if done | tail -1', 'echo for if done', 'tail', 1],
];

const LEFT: [why: string, command: string][] = [
  ['no pipe', 'tail -3'],
  ['no pipe', 'make'],
  ['nothing', ''],
  ['nothing before the pipe', '| tail -3'],
  ['from line n', 'make | tail -n +3'],
  ['from line n', 'make | tail +3'],
  ['all but the last n', 'make | head -n -3'],
  ['bytes', 'make | tail -c 3'],
  ['bytes', 'make | head -c 100'],
  ['bytes', 'make | head -c100'],
  ['follows', 'make | tail -f'],
  ['follows', 'make | tail -n 3 -f'],
  ['a file operand', 'make | tail -n 3 log'],
  ['a file operand', 'make | head log'],
  ['stdin as operand', 'make | tail -n 3 -'],
  ['no lines', 'make | tail -n 0'],
  ['no lines', 'make | head -0'],
  ['a suffix', 'make | head -n 1k'],
  ['quiet', 'make | head -q -n 3'],
  ['two limits in one', 'make | head -n 3 -n 4'],
  ['a number without -n', 'make | head 5'],
  ['a quoted number', 'make | tail -n "3"'],
  ['an expansion as number', 'make | tail -n $N'],
  ['a path', 'make | /usr/bin/tail -3'],
  ['its output goes on', 'make | tail -3 > f'],
  ['its output goes on', 'make | tail -3 | wc -l'],
  ['its stderr goes on', 'make | tail -3 2>/dev/null'],
  ['its stderr goes on', 'make | tail -3 2>&1'],
  ['an assignment', 'make | LANG=C tail -3'],
  ['another program', 'make | tailf -3'],
  ['another program', 'make | headtail'],
  ['in single quotes', "bash -c 'make | tail -3'"],
  ['in double quotes', 'bash -c "make | tail -3"'],
  ['in quotes', 'git commit -m "fix | head -3'],
  ['an open quote', "echo 'a | tail -3"],
  ['a quote over it', "echo ' | tail -3 '"],
  ['escaped', 'echo \\| tail -3'],
  ['in a substitution', 'echo $(make | tail -3)'],
  ['in a substitution', 'x=$(make | tail -3)'],
  ['in backquotes', 'echo `make | tail -3`'],
  ['in a process substitution', 'cat <(make | tail -3)'],
  ['in a heredoc', 'cat <<EOF\nmake | tail -3\nEOF'],
  ['a heredoc before it', 'cat <<EOF | tail -3\nx\nEOF'],
  ['a heredoc with a quoted end', "cat <<'EOF' | tail -3\nx\nEOF"],
  ['a heredoc with tabs', 'cat <<-EOF | tail -3\nx\nEOF'],
  ['the last line of a heredoc', 'cat <<EOF\nx | tail -3'],
  ['in a subshell', '(make | tail -3)'],
  ['in a group', '{ make | tail -3; }'],
  ['in a loop', 'for f in *; do cat $f | tail -3; done'],
  ['in a condition', 'if make | tail -3; then echo; fi'],
  ['a list', 'a; make | tail -3'],
  ['a list', 'make | tail -3; b'],
  ['a list', 'a && make | tail -3'],
  ['a list', 'a || make | tail -3'],
  ['a list', 'make | tail -3 && b'],
  ['a list', 'make | tail -3 || true'],
  ['a list', 'make | tail -3;'],
  ['a list in lines', 'a\nmake | tail -3'],
  ['a list in lines', 'make | tail -3\nb'],
  ['two folders', 'cd a && cd b && make | tail -3'],
  ['cd and a list', 'cd a && b && make | tail -3'],
  ['cd and a list', 'cd a; make | tail -3'],
  ['cd with a fallback', 'cd a || make | tail -3'],
  ['cd that prints', 'cd - && make | tail -3'],
  ['cd with a redirection', 'cd a 2>/dev/null && make | tail -3'],
  ['cd without a folder', 'cd && make | tail -3'],
  ['cd in the pipeline', 'cd a | tail -3 && b'],
  ['in the background', 'make | tail -3 &'],
  ['in the background', 'a & make | tail -3'],
  ['a comment after it', 'make | tail -3 # all'],
  ['in a comment', 'make # | tail -3'],
  ['a comment line', '# x\nmake | tail -3'],
  ['a negation', '! make | tail -3'],
  ['a function', 'f() { a; }; f | tail -3'],
  ['a function', 'function f { a; } | tail -3'],
  ['case', 'case x in x) a;; esac | tail -3'],
  ['a test', '[[ a == b ]] | tail -3'],
  ['arithmetic', '(( 1 )) | tail -3'],
  ['an array', 'a=(1 2) | tail -3'],
  ['a coprocess', 'coproc a | tail -3'],
  ['an open group', '{ a | tail -3'],
  ['an open subshell', '(a | tail -3'],
  ['a stray end', 'a) | tail -3'],
  ['a broken pair', '(a } | tail -3'],
  ['an empty stage', 'a | | tail -3'],
  ['an empty stage', 'time | tail -3'],
  ['a comment in a substitution', "echo $(a # it's\n) | tail -3"],
  ['a heredoc in a substitution', 'echo $(cat <<E\n)\nE\n) | tail -3'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's expansion
  ['an expansion with quotes', 'echo "${x:-"y"}" | tail -3'],
  ['a backslash at the end', 'make | tail -3\\'],
];

describe('a trailing head or tail', () => {
  it.each(TAKEN)('%j is a limit', (command, runs, keep, lines) => {
    expect(trailingLimit(command)).toEqual({ command: runs, keep, lines });
  });

  it.each(LEFT)('%s: %j stays', (_why, command) => {
    expect(trailingLimit(command)).toBeNull();
  });

  it('only ever takes something off the end', () => {
    const pieces = fc.constantFrom(
      ...'abc "\'`$(){}|&;<>#\\\n',
      '$(',
      '${',
      '<<',
      ' | ',
      'tail',
      'head',
      '-3',
      'cd x && ',
      'for ',
      'done',
    );
    const commands = fc.array(pieces, { maxLength: 30 }).map((parts) => `${parts.join('')} | tail -3`);
    fc.assert(
      fc.property(commands, (command) => {
        const taken = trailingLimit(command);
        if (taken !== null) expect(command.startsWith(taken.command.replace(/ 2>&1$/, ''))).toBe(true);
      }),
    );
  });

  it('takes no time on long input', () => {
    for (const piece of ['(', '$(', '"', "'", '`', '{ ', '<(', 'a | ', '\\', '${', '# ', 'a\n', '<<<']) {
      const before = performance.now();
      trailingLimit(`${piece.repeat(200_000 / piece.length)} | tail -3`);
      expect(performance.now() - before).toBeLessThan(1_000);
    }
  });
});
