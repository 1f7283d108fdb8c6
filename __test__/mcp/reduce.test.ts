import { readFileSync } from 'node:fs';
import { type BashResult, OutputStore } from 'agent-bash';
import { formatResult } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder } from '../support/index.ts';
import { MAJORS, textOf } from './majors.ts';

const REPEATS = 'for n in {1..300}; do echo waiting; done';
const BUILD = 'for n in {1..1000}; do echo "compiled module $n of the application in $((n * n * 31 % 997)) ms"; done';
const SALIENT = { level: 'salient', budgetTokens: 100 } as const;

function store(): OutputStore {
  const made = new OutputStore({ dir: folder() });
  onTestFinished(() => made.close());
  return made;
}

describe.each(MAJORS)('with the SDK $major', ({ connect }) => {
  test('repeats are folded by default, and the structured output is whole', async () => {
    const { call } = await connect({ cwd: folder() });
    const answer = await call('bash', { command: REPEATS });
    expect(textOf(answer)).toBe('waiting\n[x300]');
    expect(answer.structuredContent).toMatchObject({
      stdout: 'waiting\n'.repeat(300),
      view: { text: 'waiting\n[x300]\n', class: 'green', elided: [], id: 0, path: null },
    });
  });

  test('with reduce off a model reads the output as it is', async () => {
    const { call } = await connect({ cwd: folder(), reduce: 'off' });
    const answer = await call('bash', { command: REPEATS });
    expect(answer.structuredContent).toMatchObject({ view: null });
    expect(textOf(answer)).toBe(formatResult(answer.structuredContent as unknown as BashResult));
    expect(textOf(answer)).toContain('stdout:\nwaiting\nwaiting\n');
  });

  test('with salient a later call recalls the lines that an earlier one left out', async () => {
    const { call, tools } = await connect({ cwd: folder(), reduce: SALIENT, outputs: store() });
    const [bash] = await tools();
    expect(bash).toHaveProperty('inputSchema.properties.recall');
    const answer = await call('bash', { command: BUILD });
    const [, number, path = ''] = /^\[#(\d+): 1,000 lines whole in (.+); recall "\1:/m.exec(textOf(answer)) ?? [];
    expect(readFileSync(path, 'utf8')).toBe((answer.structuredContent as { stdout: string }).stdout);
    const recalled = await call('bash', { recall: `${number}:500-501` });
    expect(recalled.isError).toBe(false);
    expect(textOf(recalled).trimEnd()).toBe(
      'compiled module 500 of the application in 319 ms\ncompiled module 501 of the application in 443 ms',
    );
  });

  test('a recall of an output that is not there is an error', async () => {
    const { call } = await connect({ cwd: folder(), reduce: SALIENT, outputs: store() });
    expect(await call('bash', { recall: '7:1-2' })).toMatchObject({
      isError: true,
      structuredContent: { error: expect.stringContaining('7'), code: 'ERR_BASH_UNKNOWN_OUTPUT' },
    });
  });

  test('the same command at once again is answered whole', async () => {
    const { call } = await connect({ cwd: folder(), reduce: SALIENT, outputs: store() });
    expect(textOf(await call('bash', { command: BUILD }))).toMatch(/^\[#1: /m);
    const again = textOf(await call('bash', { command: BUILD }));
    expect(again).not.toMatch(/^\[#|^\[\.\.\. /m);
    expect(again).toMatch(/^(?:compiled module )?500 of the application in \d+ ms$/m);
  });
});
