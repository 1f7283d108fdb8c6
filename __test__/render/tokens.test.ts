import { analyze, type HighlightToken, highlight } from 'agent-bash';
import { renderHtml, renderStyles, renderText } from 'agent-bash/render';
import { expect, test } from 'vitest';

const COMMAND = 'FOO=1 git push --force "a $B" # why';

/** The parts of a command as `class:text`. */
function parts(command: string): string[] {
  return highlight(command).map((token) => `${token.class}:${command.slice(token.start, token.end)}`);
}

/** The rows of a command that runs. */
function rows(command: string, marked?: [number, number][], colour = true): string {
  const tokens = highlight(command);
  return renderText({ command, result: null, tokens, marked }, { columns: Number.POSITIVE_INFINITY, colour });
}

test('each part of a command has its class', () => {
  expect(parts(COMMAND)).toEqual([
    'variable:FOO',
    'operator:=',
    'number:1',
    'program:git',
    'option:--force',
    'string:"a ',
    'variable:$B',
    'string:"',
    'comment:# why',
  ]);
});

test('offsets are UTF-16 units', () => {
  expect(parts('é😀 "x"')).toEqual(['program:é😀', 'string:"x"']);
});

test.each([['git status; )('], ['echo "'], ['cat <<E\n'], ['\0'], [''], ['$('.repeat(50_000)]])(
  'a text with errors has tokens, or none: %#',
  (command) => {
    let at = 0;
    for (const { start, end } of highlight(command)) {
      expect(start).toBeGreaterThanOrEqual(at);
      expect(end).toBeGreaterThan(start);
      at = end;
    }
    expect(at).toBeLessThanOrEqual(command.length);
  },
);

test.each([[undefined], [3], [['ls']]])('anything but a string is refused: %j', (command) => {
  expect(() => highlight(command as unknown as string)).toThrow('is not a string');
});

test('a terminal shows each class in a colour, and marked parts underlined', () => {
  const [row = ''] = rows('git push --force', [[4, 8]]).split('\n');
  expect(row.replaceAll('\u001b[', '<')).toBe('<1m$ <0m<1;34mgit<0m<1m <0m<1;4mpush<0m<1m <0m<1;36m--force<0m');
});

test('a page has a class for each part, with a rule in the style sheet', () => {
  const html = renderHtml({ command: 'ls -l', result: null, tokens: highlight('ls -l'), marked: [[3, 5]] });
  expect(html).toContain(
    '$ <span class="agent-bash-token-program">ls</span> <span class="agent-bash-underline agent-bash-token-option">-l</span>',
  );
  for (const { class: kind } of highlight(COMMAND)) expect(renderStyles()).toContain(`.agent-bash-token-${kind}{`);
});

test.each([[COMMAND], ['a\tb\t"c d"\n\techo $X \u202e x'], [`echo ${'"a $b" '.repeat(900)}`], ['x\r\ny\r\n']])(
  'the text is that without tokens: %#',
  (command) => {
    const plain = renderText({ command, result: null }, { columns: Number.POSITIVE_INFINITY, colour: false });
    expect(rows(command, [[1, 3]], false)).toBe(plain);
  },
);

test('the spans of findings mark the command', () => {
  const { findings } = analyze('git push --force', { cwd: '/x' });
  const { span = [0, 0] } = findings[0] ?? {};
  expect(rows('git push --force', [span])).toContain('\u001b[1;4;34mgit');
});

test.each([
  ['tokens', [{ start: 0, end: 1, class: 'else' }]],
  ['tokens', {}],
  ['marked', [[1]]],
  ['marked', 'all'],
])('%s of another shape are refused: %j', (name, value) => {
  const run = { command: 'ls', result: null, [name]: value as HighlightToken[] };
  expect(() => renderText(run)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
});
