import type { Receipt } from 'agent-bash';
import { renderHtml, renderStyles, renderText } from 'agent-bash/render';
import { expect, test } from 'vitest';
import { RESULT } from '../ai/fixtures/call.ts';
import { change, recorded } from './fixture.ts';

const CWD = '/srv/project';
const CHANGES: Partial<Receipt> = {
  created: [change(`${CWD}/a`), change(`${CWD}/<b>`)],
  modified: [change(`${CWD}/c`, { bytesBefore: 1_200 })],
  deleted: [change(`${CWD}/d`, { bytes: null, bytesBefore: 3 })],
  renamed: [{ from: `${CWD}/e`, to: `${CWD}/f` }],
};

function rows(given: Partial<Receipt>, undo: Parameters<typeof recorded>[1] = null, expanded = false): string[] {
  const run = { command: 'x', cwd: CWD, result: recorded(given, undo) };
  const text = renderText(run, { colour: false, columns: Number.POSITIVE_INFINITY, expanded });
  return text.split('\n').slice(3, -1);
}

test('one line sums up what changed', () => {
  expect(rows(CHANGES)).toEqual(['changed: 2 created (a, "<b>"), 1 modified (c), 1 deleted (d), 1 renamed (e → f)']);
});

test('expanded, each change has a line', () => {
  const counts = { created: 1_002, modified: 1, deleted: 1, renamed: 1 };
  expect(rows({ ...CHANGES, counts }, null, true)).toEqual([
    'changed: 1002 created, 1 modified (c), 1 deleted (d), 1 renamed (e → f)',
    '  created a 2 B',
    '  created "<b>" 2 B',
    '  created 1,000 more',
    '  modified c 1,200 B → 2 B',
    '  deleted d 3 B',
    '  renamed e → f',
  ]);
});

test('what a receipt does not know is said, and whose changes they are', () => {
  expect(rows({ state: 'partial', why: 'the queue overflowed', attribution: 'window' })).toEqual([
    'changed while it ran: nothing known',
    'receipt: partial: the queue overflowed',
  ]);
  expect(rows({})).toEqual(['changed: nothing']);
});

test('a run that can be undone says how, and what an undo leaves', () => {
  expect(rows({}, { covers: 'all', notCovered: [], bytes: 3 })[1]).toBe('can be undone: run-7');
  expect(rows({}, { covers: 'part', notCovered: ['a push'], bytes: 3 }).slice(1)).toEqual([
    'can be undone in part: run-7',
    'not covered by the undo: a push',
  ]);
});

test('HTML escapes the names, with a class of its own', () => {
  expect(renderHtml({ command: 'x', cwd: CWD, result: recorded(CHANGES) })).toContain(
    '<span class="agent-bash-changed">changed: 2 created (a, &quot;&lt;b&gt;&quot;)',
  );
  expect(renderStyles()).toContain('.agent-bash-changed{');
});

test('a result of an older version has none, and one of a wrong shape is refused', () => {
  const { receipt: _receipt, undo: _undo, runId: _runId, ...older } = RESULT;
  expect(renderText({ command: 'x', result: older as never }, { colour: false })).not.toContain('changed');
  for (const wrong of [1, {}, { ...recorded({}).receipt, created: [null] }]) {
    const run = { command: 'x', result: { ...RESULT, receipt: wrong } as never };
    expect(() => renderText(run)).toThrow(
      'result.receipt: object is not a Receipt, or null'.replace('object', typeof wrong === 'number' ? '1' : 'object'),
    );
  }
  expect(() => renderText({ command: 'x', result: { ...RESULT, undo: {} } as never })).toThrow('result.undo');
});
