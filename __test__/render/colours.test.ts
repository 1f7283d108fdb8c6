import { bash } from 'agent-bash';
import { renderHtml, renderStyles, renderText } from 'agent-bash/render';
import { expect, test } from 'vitest';
import { ended } from './support.ts';

const ESC = '\u001b';

/** The row of this output, as a terminal gets it. */
function painted(stdout: string): string {
  return renderText({ command: 'x', result: ended({ stdout }) }).split('\n')[1] ?? '';
}

/** The same in HTML. */
function marked(stdout: string): string {
  const html = renderHtml({ command: 'x', result: ended({ stdout }) });
  return /<span class="agent-bash-stdout">(.*)<\/span>\n/.exec(html)?.[1]?.replaceAll('agent-bash-', '') ?? '';
}

test.each([
  ['31', '31', 'fg-1'],
  ['1;97;104', '1;97;104', 'bold fg-15 bg-12'],
  ['38;5;9', '91', 'fg-9'],
  ['38;5;200', '38;5;200', 'fg-200'],
  ['48;2;255;0;0', '48;2;255;0;0', 'bg-196'],
  ['38:2::250:250:250', '38;2;250;250;250', 'fg-231'],
  ['38:2:98:98:98', '38;2;98;98;98', 'fg-241'],
  ['38:5:17', '38;5;17', 'fg-17'],
  ['4:3', '4', 'underline'],
  ['3;9;21', '3;4;9', 'italic underline strike'],
  ['2', '2', 'dim'],
  ['7', '7', 'fg-page bg-text'],
  ['7;31', '7;31', 'fg-page bg-1'],
  ['7;31;42', '7;31;42', 'fg-2 bg-1'],
  ['58;5;1;31', '31', 'fg-1'],
  ['58;2;1;2;3;31', '31', 'fg-1'],
])('SGR %s is kept', (codes, text, classes) => {
  expect(painted(`${ESC}[${codes}mx`)).toBe(`${ESC}[${text}mx${ESC}[0m`);
  expect(marked(`${ESC}[${codes}mx`)).toBe(`<span class="${classes}">x</span>`);
});

test.each([
  '',
  '0',
  '8',
  '5',
  '6',
  '99999',
  '38;5;256',
  '38;2;1;2',
  '38;5',
  '38',
  '38;9;1',
  ';;',
  '4:0',
  '53',
  '1;22',
  '31;39',
  '41;49',
])('SGR %j shows nothing', (codes) => {
  expect(painted(`${ESC}[${codes}mx`)).toBe('x');
  expect(marked(`${ESC}[${codes}mx`)).toBe('x');
});

test('a style continues over lines, and is ended in each row', () => {
  const run = { command: 'x', result: ended({ stdout: `${ESC}[31mone\ntwo${ESC}[0m\nthree` }) };
  expect(renderText(run).split('\n').slice(1, 4)).toEqual([
    `${ESC}[31mone${ESC}[0m`,
    `${ESC}[31mtwo${ESC}[0m`,
    'three',
  ]);
  expect(renderText(run, { previewLines: 2 }).split('\n').slice(2, 4)).toEqual([`${ESC}[31mtwo${ESC}[0m`, 'three']);
  expect(renderText(run, { columns: 2 }).split('\n').slice(2, 4)).toEqual([
    `${ESC}[31mon${ESC}[0m`,
    `${ESC}[31me${ESC}[0m`,
  ]);
});

test('one stream does not colour the other, nor the rest', () => {
  const run = { command: 'x', result: ended({ stdout: `${ESC}[31mout`, stderr: 'err', exitCode: 1, notes: ['n'] }) };
  expect(renderText(run).split('\n').slice(1)).toEqual([
    `${ESC}[31mout${ESC}[0m`,
    `${ESC}[2mstderr:${ESC}[0m`,
    'err',
    `${ESC}[33mnote: n${ESC}[0m`,
    `${ESC}[31mexit code 1 · 12 ms${ESC}[0m`,
  ]);
});

test('the colours of a real command are there where it was run with them', async () => {
  const command = String.raw`printf '\e[32mok\e[0m \e]8;;http://x\e\\link\e]8;;\e\\\n'`;
  const kept = await bash(command, { sanitize: { ansi: false } });
  expect(renderText({ command, result: kept }).split('\n')[1]).toBe(`${ESC}[32mok${ESC}[0m link`);
  expect(renderText({ command, result: kept }, { colour: false })).not.toContain(ESC);
  expect(renderHtml({ command, result: kept })).toContain('<span class="agent-bash-fg-2">ok</span> link</span>');
  expect(renderHtml({ command, result: kept }, { colour: false })).toContain('"agent-bash-stdout">ok link</span>');
  const clean = await bash(command);
  expect(renderText({ command, result: clean }).split('\n')[1]).toBe('ok link');
});

test('the style sheet has each class that can be there', () => {
  const styles = renderStyles();
  for (const name of ['bold', 'fg-0', 'bg-255', 'fg-page', 'bg-text', 'command', 'status']) {
    expect(styles).toMatch(new RegExp(String.raw`\.agent-bash-${name}\b`));
  }
  expect(styles).toMatch(/^(?:[.>\w-]+\{[^{}<\n]+\}\n)+$/);
});
