import { type BashResult, reduceText, type View } from 'agent-bash';
import { renderHtml, renderStyles, renderText } from 'agent-bash/render';
import { expect, test } from 'vitest';
import { RESULT } from '../ai/fixtures/call.ts';

const VIEW: View = {
  text: 'a\n[... L2-41]\nb\n',
  tokens: { before: 3_402, after: 812 },
  class: 'green',
  elided: [
    { stream: 'stdout', fromLine: 2, toLine: 1_041, why: 'budget' },
    { stream: 'stdout', fromLine: 1_050, toLine: 1_050, why: 'pytest' },
    { stream: 'stderr', fromLine: 3, toLine: 3, why: 'long' },
  ],
  rules: ['budget'],
  id: 12,
  path: '/tmp/outputs/12',
};

/** The rows of a run with this view, without the command, the output and the status. */
function rows(view: View | null, expanded = false): string[] {
  const result = { ...RESULT, stdout: 'a\n', view } as BashResult;
  const text = renderText({ command: 'x', result }, { colour: false, columns: Number.POSITIVE_INFINITY, expanded });
  return text.split('\n').slice(2, -1);
}

test('one line says how much a model does not read, and where the whole is', () => {
  expect(rows(VIEW)).toEqual([
    'the model reads 812 of 3,402 tokens, without 1,041 lines and the middle of 1 long line; whole in /tmp/outputs/12',
  ]);
});

test('expanded, each place has a line', () => {
  expect(rows(VIEW, true).slice(1)).toEqual([
    '  stdout L2-1041: budget',
    '  stdout L1050: pytest',
    '  stderr L3: the middle of a long line',
  ]);
});

test('people see the output, and not the text for the model', () => {
  const text = renderText({ command: 'x', result: { ...RESULT, stdout: 'a\nc\nb\n', view: VIEW } as BashResult });
  expect(text).toContain('\nc\n');
  expect(text).not.toContain('[... L2-41]');
});

test('a view that leaves nothing out has no line, and neither has none', () => {
  const folded = reduceText('waiting for the server\n'.repeat(200));
  expect([folded.elided, rows(folded)]).toEqual([[], []]);
  expect(rows(null)).toEqual([]);
});

test('a view without a file names none', () => {
  expect(rows({ ...VIEW, path: null })[0]).toMatch(/1 long line$/);
});

test('HTML escapes the path, with a class of its own', () => {
  const result = { ...RESULT, view: { ...VIEW, path: '/tmp/<b>' } } as BashResult;
  expect(renderHtml({ command: 'x', result })).toMatch(/<span class="agent-bash-elided">the model .*&lt;b&gt;<\/span>/);
  expect(renderStyles()).toContain('.agent-bash-elided{');
});

test('a path or a reason with control characters is written out', () => {
  const hostile = { ...VIEW, path: '/tmp/\u001b[2J\u202e', elided: [{ ...VIEW.elided[0], why: '\u001b]0;x\u0007' }] };
  const text = rows(hostile as View, true).join('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(text).toContain('\\u202e');
});

test('a view of a wrong shape is refused', () => {
  for (const wrong of [1, 'x', {}, { ...VIEW, elided: [null] }, { ...VIEW, tokens: 1 }]) {
    expect(() => renderText({ command: 'x', result: { ...RESULT, view: wrong } as never })).toThrow('result.view: ');
  }
});
