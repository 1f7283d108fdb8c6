import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BashResult } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { folder, mark, processOf, settles, sleepers, until } from '../../support/index.ts';

const MAIN = join(import.meta.dirname, '../../../examples/json-server/main.mjs');

interface Message {
  type: 'output' | 'result' | 'error';
  id: unknown;
  text?: string;
  code?: string;
  message?: string;
  result?: BashResult;
}

/** The example as a child, with its client's side. */
function start() {
  const child = spawn(process.execPath, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const messages: Message[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => void messages.push(JSON.parse(line)));
  return {
    child,
    messages,
    ended: once(child, 'close'),
    say: (...asked: unknown[]) =>
      void child.stdin.write(asked.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('')),
    hears: (type: Message['type'], id: unknown) =>
      until(() => messages.find((message) => message.type === type && message.id === id), `${type} of ${id}`),
  };
}

test('it has at most 40 lines', async () => {
  expect((await readFile(MAIN, 'utf8')).trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('a command: its output as it comes, its result as data and as text for people', async () => {
  const { say, hears, messages } = start();
  const cwd = folder();
  say({ type: 'bash', id: 'a', command: 'pwd; exit 3', cwd });
  const { result, text } = await hears('result', 'a');
  expect(result).toMatchObject({ status: 'exited', exitCode: 3, stdout: `${cwd}\n` });
  expect(text).toMatch(/^\$ pwd; exit 3\nin .*\nexit code 3 · \d+ ms · limit 30 s$/s);
  expect(messages[0]).toEqual({ type: 'output', id: 'a', stream: 'stdout', text: `${cwd}\n` });
});

test('commands run side by side, and abort_bash ends one with all it has started', async () => {
  const { say, hears, messages } = start();
  const [one, other] = [mark(), mark()];
  say(
    { type: 'bash', id: 1, command: `sleep ${one} & sleep ${one}` },
    { type: 'bash', id: 2, command: `echo go; sleep ${other}` },
  );
  await until(() => sleepers(one).length === 2 && sleepers(other).length === 1);
  say({ type: 'abort_bash', id: 1 });
  expect((await hears('result', 1)).result).toMatchObject({ status: 'aborted', exitCode: 130 });
  expect(sleepers(one)).toEqual([]);
  expect(sleepers(other)).toHaveLength(1);
  say({ type: 'abort_bash', id: 2 });
  expect((await hears('result', 2)).result).toMatchObject({ status: 'aborted', stdout: 'go\n' });
  say({ type: 'bash', id: 1, command: 'echo again' });
  await until(() => messages.some(({ id, result }) => id === 1 && result?.stdout === 'again\n'));
});

test('an abort right behind its command ends it, or nothing was started', async () => {
  const { say, hears } = start();
  const seconds = mark();
  say({ type: 'bash', id: 1, command: `sleep ${seconds}` }, { type: 'abort_bash', id: 1 });
  expect((await settles(hears('result', 1))).result).toMatchObject({ status: 'aborted', exitCode: 130 });
  expect(sleepers(seconds)).toEqual([]);
});

test.each([
  ['garbage', null],
  ['', null],
  ['null', null],
  ['[1]', null],
  ['{"type":"bash"}', null],
  ['{"type":"bash","id":null,"command":"echo no"}', null],
  ['{"type":"rm","id":4}', 4],
  ['{"type":"abort_bash","id":5}', 5],
  ['\u0000\u001b[2J', null],
])('the line %j is answered with an error, and the next one is read', async (line, id) => {
  const { say, hears, messages } = start();
  say(line, { type: 'bash', id: 'after', command: 'echo ok' });
  expect(await hears('error', id)).toMatchObject({ code: 'BAD_REQUEST' });
  expect((await hears('result', 'after')).result?.stdout).toBe('ok\n');
  expect(messages.filter(({ type }) => type === 'error')).toHaveLength(1);
});

test('an invalid command is an error with its code; a running id is not taken twice', async () => {
  const { say, hears } = start();
  const seconds = mark();
  say(
    { type: 'bash', id: 1, command: 5 },
    { type: 'bash', id: 2, command: 'git push --force' },
    { type: 'bash', id: 3, command: 'true', cwd: '/no/such/folder' },
    { type: 'bash', id: 4, command: `sleep ${seconds}` },
    { type: 'bash', id: 4, command: 'echo twice' },
  );
  expect(await hears('error', 1)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  expect(await hears('error', 2)).toMatchObject({ code: 'ERR_BASH_BLOCKED', findings: [{ ruleId: 'git-force-push' }] });
  expect(await hears('error', 3)).toMatchObject({ code: 'ERR_BASH_CWD_NOT_FOUND' });
  expect(await hears('error', 4)).toMatchObject({ code: 'BAD_REQUEST' });
});

test('a client that closes its end: what runs is ended, its results are still written, and the server goes', async () => {
  const { child, say, hears, ended } = start();
  const seconds = mark();
  say({ type: 'bash', id: 1, command: `echo go; sleep ${seconds} & sleep ${seconds}` });
  await hears('output', 1);
  child.stdin.end();
  expect((await hears('result', 1)).result).toMatchObject({ status: 'aborted', stdout: 'go\n' });
  expect(await settles(ended)).toEqual([0, null]);
  expect(sleepers(seconds)).toEqual([]);
});

test('a client that is gone altogether: the server goes at its next word', async () => {
  const { child, say, hears, ended } = start();
  const seconds = mark();
  say({ type: 'bash', id: 1, command: `echo go; sleep ${seconds} & while :; do echo more; sleep .05; done` });
  await hears('output', 1);
  child.stdout.destroy();
  await settles(ended);
  await until(() => sleepers(seconds).length === 0);
});

test('killed with SIGKILL, it leaves nothing behind', async () => {
  const { child, say, ended } = start();
  const seconds = mark();
  say({ type: 'bash', id: 1, command: `setsid sleep ${seconds} & sleep ${seconds}` });
  await until(() => sleepers(seconds).length === 2);
  child.kill('SIGKILL');
  await settles(ended);
  await until(() => sleepers(seconds).length === 0);
});

test('a client that does not read holds the command back, and loses nothing', async () => {
  const { child, messages, say, hears } = start();
  child.stdout.pause();
  const place = folder();
  say({
    type: 'bash',
    id: 1,
    command: `echo $$ > ${place}/pid; for ((i = 0; i < 200000; i++)); do echo "line $i"; done`,
  });
  const pid = await until(async () => Number(await readFile(join(place, 'pid'), 'utf8').catch(() => '')));
  // 2 MB are more than the pipes hold: in the end its writes wait, and go on waiting.
  let looks = 0;
  await until(() => {
    looks = processOf(pid)?.state === 'S' ? looks + 1 : 0;
    return looks > 50;
  });
  child.stdout.resume();
  await hears('result', 1);
  const text = messages.flatMap(({ type, text = '' }) => (type === 'output' ? [text] : [])).join('');
  expect(text.split('\n').length).toBe(200_001);
});
