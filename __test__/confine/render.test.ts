import type { BashResult, Confinement } from 'agent-bash';
import { renderHtml, renderStyles, renderText } from 'agent-bash/render';
import { expect, test } from 'vitest';
import { RESULT } from '../ai/fixtures/call.ts';

const confinement: Confinement = {
  profile: 'workspace',
  held: ['files'],
  missing: [{ part: 'network', why: 'there is no veth', remedy: 'load it' }],
  denied: [
    { kind: 'write', target: '/etc/<b>\n', program: 'tee', count: 1, grant: null },
    { kind: 'network', target: 'a.example:443', program: 'npm', count: 1_200, grant: null },
  ],
  way: 'namespaces',
  write: [],
  deniedTotal: 1_300,
  tmp: null,
  secrets: [],
};
const run = { command: 'x', result: { ...RESULT, confinement } as BashResult };

test('denials and missing parts are lines of their own, above the notes', () => {
  expect(renderText({ ...run, result: { ...run.result, notes: ['a note'] } }, { colour: false })).toBe(
    [
      '$ x',
      '(no output)',
      'denied: write /etc/<b>  (tee)',
      'denied: network a.example:443 (npm), 1,200 times',
      'denied: 99 more',
      'not confined: network: there is no veth',
      'note: a note',
      'exit code 0 · 1 ms · limit 30 s',
    ].join('\n'),
  );
});

test('HTML escapes them, with a class of their own', () => {
  expect(renderHtml(run)).toContain('<span class="agent-bash-denied">denied: write /etc/&lt;b&gt;');
  expect(renderStyles()).toContain('.agent-bash-denied{');
});

test('a result without confinement, or of an older version, has none', () => {
  const { confinement: _, ...older } = RESULT;
  for (const result of [RESULT, older as BashResult]) {
    expect(renderText({ command: 'x', result }, { colour: false })).not.toContain('denied');
  }
  expect(() => renderText({ command: 'x', result: { ...RESULT, confinement: 1 } as never })).toThrow(
    'result.confinement: 1 is not a Confinement, or null',
  );
});
