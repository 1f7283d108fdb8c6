import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, OutputStore, type Target } from 'agent-bash';
import type { BashToolOptions } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { callTool, runTool } from '../ai/fixtures/call.ts';
import { finished, place, rejection, until } from '../support/index.ts';

const step = (at: number) => `step ${at}: prepared the part in ${(at * at * 31) % 997} ms and went on\n`;
const steps = (count: number) => Array.from({ length: count }, (_, at) => step(at + 1)).join('');
/** Prints the steps, more than a result has. */
const STEPS =
  'for ((i = 1; i <= 4000; i++)); do echo "step $i: prepared the part in $((i * i * 31 % 997)) ms and went on"; done';

function toolOn(target: Target, outputs: OutputStore): BashToolOptions {
  finished(() => outputs.close());
  return { target, outputs, reduce: { level: 'salient', budgetTokens: 300 }, taps: 'on' };
}

describe('a view of an output on a target', () => {
  test('leaves out lines that recall reads there', async () => {
    const { target, home } = await place();
    const outputs = new OutputStore();
    const tool = toolOn(target, outputs);
    const { view, truncation } = await runTool(tool, STEPS);
    const path = (truncation.stdout as { path: string }).path;
    expect(view).toMatchObject({ id: 1, path, elided: [{ stream: 'stdout' }] });
    expect(view?.text).toContain(`[#1: 4,000 lines whole in ${path}; recall "1:`);
    const recalled = async (recall: string) => (await callTool(tool, { recall })).output;
    expect(await recalled('1:2000-2001')).toMatchObject({ status: 'recalled', text: step(2000) + step(2001) });
    expect(await recalled('1 /^step 3210:/')).toMatchObject({ text: step(3210) });
    expect(await recalled('1:5000-6000')).toMatchObject({ text: '' });
    expect(await recalled('1 /a)(/')).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    expect(await outputs.read(1)).toBe(steps(4000));
    expect(outputs.stats()).toMatchObject([{ rule: 'budget', recalled: expect.any(Number) }]);
    // The file is the caller's, and is not copied.
    outputs.forget(1);
    expect(statSync(path).size).toBe(steps(4000).length);
    expect(path.startsWith(home)).toBe(true);
  });

  test('counts lines through both streams', async () => {
    const { target } = await place();
    const outputs = new OutputStore();
    const tool = toolOn(target, outputs);
    const { view } = await runTool(tool, `echo -n no newline >&2; ${STEPS}; printf 'out\\n\\e[31mred\\e[0m' >&2`);
    expect(view).toMatchObject({ id: 1, path: null });
    expect(view?.text).toContain('[#1: 4,002 lines in all; recall "1:');
    expect(await outputs.read(1, { lines: [3999, 4001] })).toBe(`${step(3999)}${step(4000)}no newlineout\n`);
    expect(await outputs.read(1, { lines: [4002, 4002] })).toBe('red');
    expect(await outputs.read(1, { pattern: 'step 4000|^red' })).toBe(`${step(4000)}red\n`);
    expect(await outputs.read(1)).toBe(`${steps(4000)}no newlineout\nred`);
  });

  test('is made of what has crossed if nothing was cut there', async () => {
    const { target } = await place();
    const outputs = new OutputStore();
    const { view } = await runTool(toolOn(target, outputs), STEPS.replace('4000', '400'));
    expect(view).toMatchObject({ id: 1, path: null });
    expect(await outputs.read(1, { lines: [200, 200] })).toBe(step(200));
  });

  test('without recall names a file that commands there can read', async () => {
    const { target } = await place();
    const options = { target, reduce: { level: 'salient', budgetTokens: 300 } } as const;
    const { view, truncation } = await bash(STEPS, options);
    const path = (truncation.stdout as { path: string }).path;
    expect(view).toMatchObject({ id: 0, path });
    expect(view?.text).toContain(`[4,000 lines whole in ${path}]`);
    expect((await bash(`tail -n 1 ${path}`, { target })).stdout).toBe(step(4000));
    // No command there can read a file of this machine.
    const { view: folded } = await bash(`${STEPS}; echo x >&2`, options);
    expect(folded?.elided ?? []).toStrictEqual([]);
  });

  test('whose file is gone cannot be recalled, and one of a closed target says so', async () => {
    const { target } = await place();
    const outputs = new OutputStore();
    const { view } = await runTool(toolOn(target, outputs), STEPS);
    rmSync(view?.path ?? '');
    const lines: [number, number] = [1, 2];
    expect(await rejection(() => outputs.read(1, { lines }))).toMatchObject({
      code: 'ERR_BASH_UNKNOWN_OUTPUT',
      message: expect.stringContaining('it is gone'),
    });
    expect(await rejection(() => outputs.read(1))).toMatchObject({ code: 'ERR_BASH_UNKNOWN_OUTPUT' });
    await target.close();
    expect(await rejection(() => outputs.read(1, { lines }))).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });

  test('is recalled through a cut', async () => {
    const { target, cut } = await place();
    const outputs = new OutputStore();
    await runTool(toolOn(target, outputs), STEPS);
    cut();
    expect(await outputs.read(1, { lines: [3000, 3000] })).toBe(step(3000));
  });
});

describe('a tap on a target', () => {
  test('stays there, is recalled, and is removed when it is forgotten', async () => {
    const { target, home } = await place();
    const outputs = new OutputStore();
    const tool = toolOn(target, outputs);
    writeFileSync(join(home, 'words'), `${'word\n'.repeat(50_000)}needle\n\u001b[31mred\u001b[0m\n`);
    const output = await runTool(tool, {
      command: 'python3 -c \'print(open("words").read(), end="")\' | grep -c word',
    });
    const tap = output.evidence?.tap;
    expect(tap).toMatchObject({
      command: expect.stringContaining('python3'),
      kept: true,
      id: 1,
      lines: 50_002,
      complete: true,
    });
    const path = tap?.path ?? '';
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(home, 'words'), 'utf8'));
    expect((await callTool(tool, { recall: '1 /needle/' })).output).toMatchObject({ text: 'needle\n' });
    expect(await outputs.read(1, { lines: [50_002, 50_002] })).toBe('red\n');
    expect((await outputs.read(1)).endsWith('needle\nred\n')).toBe(true);
    outputs.forget(1);
    await until(() => !existsSync(path));
  });

  test('that is larger than the store is not kept', async () => {
    const { target } = await place();
    const outputs = new OutputStore({ maxBytes: 10_000 });
    const output = await runTool(toolOn(target, outputs), { command: 'seq 100000 | grep -c 7' });
    expect(output).toMatchObject({ stdout: '40951\n' });
    expect(output.evidence?.tap?.complete).toBe(false);
  });
});
