import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import {
  type BashRunner,
  type BashToolError,
  type BashToolOptions,
  createBashTool,
  createToolApproval,
} from 'agent-bash/ai';
import { describe, expect, it, vi } from 'vitest';
import { folder } from '../support/index.ts';
import { callTool, runTool } from './fixtures/call.ts';

const ASKS = 'rm -rf /opt/no-such-folder';
const DENIED = 'git push --force origin main';
const MESSAGE =
  'permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, or push without force';

/** The tool with `bash`, and with something in its place: the same holds for both. */
const RUNS: [string, () => BashToolOptions][] = [
  ['bash', () => ({})],
  [
    'an injected run',
    () => ({ run: vi.fn<BashRunner>((command, options) => bash(command, { ...options, safety: 'off' })) }),
  ],
];

describe.each(RUNS)('with %s', (_, options) => {
  it('a denied command starts nothing, and the model reads what to run instead', async () => {
    const cwd = folder();
    const given = options();
    const { output, text } = await callTool({ ...given, cwd }, `touch started; ${DENIED}`);
    expect(output).toMatchObject({
      error: MESSAGE,
      code: 'ERR_BASH_BLOCKED',
      findings: [{ ruleId: 'git-force-push' }],
    });
    expect(text).toBe(`${MESSAGE}\nInstead: git push --force-with-lease origin main`);
    expect(structuredClone(output)).toEqual(output);
    expect(existsSync(join(cwd, 'started'))).toBe(false);
    if (given.run) expect(given.run).not.toHaveBeenCalled();
  });

  it('a command to ask about is refused without a person to ask, and the model reads who has to consent', async () => {
    for (const safety of [undefined, 'default', {}, { onAsk: undefined }, { onAsk: 'deny' }] as const) {
      const { output } = await callTool({ ...options(), ...(safety && { safety }) }, ASKS);
      expect(output, JSON.stringify(safety)).toMatchObject({
        code: 'ERR_BASH_BLOCKED',
        findings: [{ ruleId: 'rm-recursive', level: 'ask' }],
        error: expect.stringContaining('A person has to consent to this'),
      });
    }
    const { notes, exitCode } = await runTool({ ...options(), safety: { onAsk: 'allow' } }, ASKS);
    expect({ notes, exitCode }).toEqual({
      notes: [expect.stringMatching(/^a person would be asked about this: .* \(rm-recursive\)$/)],
      exitCode: 0,
    });
  });

  it('what an approval lets run without a question runs, unless the tool says otherwise', async () => {
    for (const [safety, runs] of [
      [undefined, true],
      [{ onAsk: 'deny' }, false],
    ] as const) {
      const tool = createBashTool({ ...options(), ...(safety && { safety }) });
      const approval = createToolApproval({ tool, rules: { 'rm-recursive': 'off' } });
      const call = { toolCallId: `allowed-${runs}`, messages: [] };
      expect(await approval({ command: ASKS }, call)).toBe('not-applicable');
      const outputs = [];
      for await (const output of tool.execute({ command: ASKS }, call)) outputs.push(output);
      expect('exitCode' in Object(outputs.at(-1)), JSON.stringify(outputs)).toBe(runs);
    }
  });

  it('warnings are notes', async () => {
    const { notes } = await runTool({ ...options(), safety: { rules: { 'rm-recursive': 'warn' } } }, ASKS);
    expect(notes).toEqual([expect.stringMatching(/^warning: .* \(rm-recursive\)$/)]);
  });

  it('rules and wrappers of the tool hold, and those of a call go before them', async () => {
    const safety = { rules: { 'rm-recursive': 'deny' }, wrappers: { again: 'exec-rest' } } as const;
    expect((await callTool({ ...options(), safety }, `again ${ASKS}`)).output).toMatchObject({
      code: 'ERR_BASH_BLOCKED',
    });
    const perCall = () => ({ safety: 'off' as const });
    expect(await runTool({ ...options(), safety, perCall }, ASKS)).toMatchObject({ exitCode: 0, notes: [] });
    const strict = () => ({ safety: { onAsk: 'deny' } as const });
    expect((await callTool({ ...options(), perCall: strict }, ASKS)).output).toMatchObject({
      code: 'ERR_BASH_BLOCKED',
    });
  });

  it('the directory and the environment of the call count', async () => {
    const env = { FLAG: '--force' };
    const denied = (await callTool({ ...options(), env }, 'git push $FLAG')).output as BashToolError;
    expect(denied.code).toBe('ERR_BASH_BLOCKED');
    const gone = folder();
    expect((await callTool(options(), { command: `rm -rf ${gone}`, cwd: gone })).output).toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      findings: [{ ruleId: 'rm-critical' }],
    });
  });

  it('"off" judges nothing', async () => {
    expect(await runTool({ ...options(), safety: 'off' }, ASKS)).toMatchObject({ exitCode: 0, notes: [] });
  });

  it('options that cannot be are the error of the call', async () => {
    for (const safety of [{ rules: { nothing: 'off' } }, { onask: 'deny' }, { wrappers: { a: 'b' } }, 'on', 1]) {
      const { output } = await callTool({ ...options(), safety: safety as never }, 'true');
      expect(output, JSON.stringify(safety)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    }
  });

  it('onBeforeRun determines the judged command, and onAfterRun sees the refusal', async () => {
    const onAfterRun = vi.fn();
    const { output } = await callTool(
      { ...options(), onBeforeRun: () => ({ command: DENIED }), onAfterRun },
      'echo hi',
    );
    expect(onAfterRun).toHaveBeenCalledWith({ command: DENIED, result: output });
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  });

  it('a background command is judged too', async () => {
    const { output } = await callTool(options(), { command: DENIED, mode: 'background' });
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  });
});

it('a run that judges as well says everything once', async () => {
  const run = vi.fn<BashRunner>(bash);
  expect((await runTool({ run, safety: { onAsk: 'allow' } }, ASKS)).notes).toHaveLength(1);
});

it('a refusal reads as an error with and without a suggestion', () => {
  const { toModelOutput } = createBashTool();
  const output = (suggestion: string): BashToolError => ({
    error: 'no',
    code: 'ERR_BASH_BLOCKED',
    findings: [
      { ruleId: 'a', level: 'deny', confidence: 'exact', span: [0, 1], argv: [], via: [], message: 'no', suggestion },
    ],
  });
  expect(toModelOutput({ output: output('') })).toEqual({ type: 'error-text', value: 'no' });
  expect(toModelOutput({ output: output('ls') })).toEqual({ type: 'error-text', value: 'no\nInstead: ls' });
});
