import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenHere, Page } from '../../host/page.ts';
import { Ledger } from '../../ledger/support.ts';
import { until } from '../../support/index.ts';
import { EXAMPLE } from './support.ts';

const { readArguments, USAGE } = await import(join(EXAMPLE, 'arguments.mjs'));
const { runAgent } = await import(join(EXAMPLE, 'agent.mjs'));
const { chooseModel } = await import(join(EXAMPLE, 'model.mjs'));
const { createProject } = await import(join(EXAMPLE, 'project.mjs'));
const { Transcript } = await import(join(EXAMPLE, 'transcript.mjs'));

listenHere();

test('--ui is an argument like others', () => {
  expect(readArguments([], {})).toMatchObject({ ui: false });
  expect(readArguments(['--ui', '--keep'], {})).toMatchObject({ ui: true, keep: true, directory: null });
  expect(readArguments(['a task', '--ui'], {})).toMatchObject({ ui: true, task: 'a task' });
  expect(() => readArguments(['--ui=yes'], {})).toThrow();
  expect(USAGE).toContain('--ui');
});

describe('with the page the agent', () => {
  /** Starts the agent as `--ui` does, without a terminal. */
  async function started() {
    const project = await createProject();
    onTestFinished(() => project.remove());
    const said: string[] = [];
    const transcript = new Transcript(
      new PassThrough().on('data', (text) => said.push(`${text}`)),
      { colour: false },
    );
    const { directory, env, store } = project;
    const { model } = chooseModel({ env: {}, ownTask: false, wordMs: 0 });
    const job = { model, task: 'repair it', directory, env, store, confined: false, ui: true, transcript };
    const running = runAgent({ ...job, signal: new AbortController().signal });
    await until(() => said.join('').includes('The agent asks to run:'), 'the agent asks');
    return { running, project };
  }

  test('asks for the commit there, and goes on', async () => {
    const ledger = new Ledger('on');
    const { running, project } = await started();
    const page = await Page.open();
    const ask = await page.answer(true);
    expect(ask).toMatchObject({ command: expect.stringContaining('git commit'), actor: { agent: 'coding-agent' } });
    expect(ask.reasons).toContain('the rule «git commit:*» asks');
    expect(await running).toMatchObject({ finished: true });
    expect(await project.verify()).toMatchObject({ repaired: true });
    const decided = (await ledger.read()).filter(({ decidedBy }) => decidedBy !== null);
    expect(decided).toMatchObject([{ command: ask.command, decidedBy: 'page' }]);
  });

  test('does not commit what a person refuses there', async () => {
    new Ledger('on');
    const { running, project } = await started();
    await (await Page.open()).answer(false, 'Not on a Friday.');
    await running;
    expect(await project.verify()).toMatchObject({ repaired: false });
  });
});
