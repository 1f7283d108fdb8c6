import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { afterAll, expect, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { rejection } from '../support/index.ts';

const registry = new BackgroundRegistry();
afterAll(() => registry.close());

const WRONG: [given: object, message: string][] = [
  [{ receipt: true }, 'receipt: true is not one of off, watch, exact'],
  [{ receipt: 'all' }, 'receipt: "all" is not one of off, watch, exact'],
  [
    { undo: 'never' },
    'undo: "never" is not one of off, risky, always, or an object with when, require, maxFileBytes, maxBytes, storeBytes, dir',
  ],
  [{ undo: 1 }, 'undo: 1 is not an object'],
  [{ undo: { when: 'off' } }, 'undo.when: "off" is not one of risky, always'],
  [{ undo: { require: 1 } }, 'undo.require: 1 is not a boolean'],
  [{ undo: { maxFileBytes: 0 } }, 'undo.maxFileBytes: 0 is not a whole number of at least 1'],
  [{ undo: { maxBytes: 1.5 } }, 'undo.maxBytes: 1.5 is not a whole number of at least 1'],
  [{ undo: { storeBytes: '1' } }, 'undo.storeBytes: "1" is not a whole number of at least 1'],
  [{ undo: { dir: '' } }, 'undo.dir: "" is not a path'],
];

test.each(WRONG)('%j is ERR_BASH_INVALID_ARG everywhere, and nothing runs', async (given, message) => {
  const options = given as never;
  const calls = [
    () => bash('exit 9', options),
    async () => new BashSession(options),
    () => registry.start('exit 9', options),
    async () => new PtySession(options),
  ];
  for (const call of calls) {
    expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message });
  }
});

test.each(WRONG.slice(1, 2))('a tool answers with the error', async (given, message) => {
  const { output } = await callTool(given as never, 'exit 9');
  expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: message });
  expect(() => createBashTool({ undo: { keep: 1 } as never })).toThrow('unknown option "undo.keep"');
});

test('without the options a result has its id, and no receipt', async () => {
  const results = [await bash('true'), await bash('true', { receipt: 'off', undo: 'off' })];
  for (const { receipt, undo } of results) expect({ receipt, undo }).toEqual({ receipt: null, undo: null });
});

test('the id of a run is the value of AGENT_BASH_ID, unlike any other', async () => {
  const results = [await bash('echo $AGENT_BASH_ID'), await bash('echo $AGENT_BASH_ID')];
  for (const { runId, stdout } of results) expect(stdout).toBe(`${runId}\n`);
  expect(results[0]?.runId).not.toBe(results[1]?.runId);
});
