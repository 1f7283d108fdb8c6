import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { mark, settles, sleepers, until } from '../../support/index.ts';

const MAIN = join(import.meta.dirname, '../../../examples/prompt/main.mjs');

/** The example in a terminal that stands for a person's. */
async function atTerminal(before = '') {
  const person = new PtySession({ cols: 60, rows: 30, confine: 'off' });
  onTestFinished(() => person.kill());
  await person.start(`${before}${process.execPath} '${MAIN}'`);
  const rows = () => person.screen().lines.filter((line) => line !== '');
  const shows = (text: string) => until(() => rows().join('\n').includes(text), `the screen shows ${text}`);
  await shows('>');
  return { person, rows, shows };
}

/** The example in pipes. Returns its output after the end of its input. */
async function inPipes(input: string): Promise<string> {
  const child = spawn(process.execPath, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  child.stdin.end(input);
  expect(await settles(once(child, 'close'))).toEqual([0, null]);
  return text;
}

test('it has at most 40 lines', async () => {
  expect((await readFile(MAIN, 'utf8')).trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('in pipes: commands one after another, plain, and all else is for the agent', async () => {
  const text = await inPipes(
    '!echo one; exit 3\nhello\n!git push --force\n\n!printf "\\e[31mred\\e[2J\\n"\n!echo last',
  );
  expect(text).not.toContain('\u001b');
  // Whether a prompt is still shown depends on when the end of the input is seen.
  expect(
    text
      .replace(/\d+ ms/g, 'T')
      .replace(/^(> )+/gm, '')
      .split('\n'),
  ).toEqual([
    '$ echo one; exit 3',
    'one',
    'exit code 3 · T · limit 15 min',
    '(for the agent: hello)',
    '$ git push --force',
    expect.stringMatching(/^not run: /),
    expect.stringContaining('(ERR_BASH_BLOCKED)'),
    '$ printf "\\e[31mred\\e[2J\\n"',
    'red',
    'exit code 0 · T · limit 15 min',
    '$ echo last',
    'last',
    'exit code 0 · T · limit 15 min',
    '',
  ]);
});

test('on a terminal the block is drawn live over itself, and Ctrl-C ends the command with all it has started', async () => {
  const { person, rows, shows } = await atTerminal();
  const seconds = mark();
  await person.write(`!seq 30; sleep ${seconds} & sleep ${seconds}\r`);
  await shows('running · ');
  await until(() => sleepers(seconds).length === 2);
  await until(() => / [1-9]\d* s · limit|[1-9]\.\d s/.test(rows().at(-1) ?? ''), 'the time goes on');
  // Drawn many times, it is there once.
  expect(rows().filter((line) => line.startsWith('$ seq 30'))).toHaveLength(1);
  expect(rows()).toContain('… 10 earlier lines');
  await person.write('\u0003');
  await shows('aborted, ended by SIGTERM');
  expect(sleepers(seconds)).toEqual([]);
  await person.write('!echo and on\r');
  await shows('exit code 0');
  await person.write('\u0003');
  expect((await settles(person.result())).exitCode).toBe(0);
});

test('what a command writes does nothing to the terminal but show its colours', async () => {
  const { person, rows, shows } = await atTerminal();
  await person.write('!printf "\\e[2J\\e]0;title\\a\\e[32mgreen\\e[0m\\e[5;5Hhere\\n"\r');
  await shows('exit code 0');
  expect(rows()).toContain('greenhere');
  expect(person.screen().title).toBe('');
  await person.write('\u0004');
  const { stdout, exitCode } = await settles(person.result());
  expect([stdout.includes('greenhere'), exitCode]).toEqual([true, 0]);
});

test('a terminal without a size counts as 80 columns wide', async () => {
  const { person, shows } = await atTerminal('stty rows 0 cols 0; ');
  await person.write('!echo "one"; sleep 0.5; echo "two"\r');
  await shows('exit code 0');
  await person.write('\u0004');
  expect((await settles(person.result())).exitCode).toBe(0);
});

test('a person who hangs up ends what runs', async () => {
  const { person, shows } = await atTerminal();
  const seconds = mark();
  await person.write(`!setsid sleep ${seconds} & sleep ${seconds}\r`);
  await shows('running · ');
  await until(() => sleepers(seconds).length === 2);
  await person.kill();
  await until(() => sleepers(seconds).length === 0);
});
