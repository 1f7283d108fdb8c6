import { BashSession } from 'agent-bash';
import {
  type BashToolOptions,
  createTerminalTool,
  createToolApproval,
  type TerminalToolInput,
  type TerminalToolOutput,
} from 'agent-bash/ai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MAJORS, type Step } from '../../../ai/fixtures/majors.ts';
import { terminals } from '../../../ai/fixtures/terminal.ts';
import { folder } from '../../../support/index.ts';

afterEach(() => vi.unstubAllEnvs());

const start = (command: string): TerminalToolInput => ({ action: 'start', command });
const ASKS = 'rm -rf /no-such-folder/cache';

describe('what a terminal is started with', () => {
  it('is judged as a command: a denied one does not start, and the model reads the alternative', async () => {
    const { call } = terminals();
    const { output, text } = await call(start('git push --force'));
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED', findings: [{ ruleId: 'git-force-push' }] });
    expect(text).toMatch(/not allowed.*\nInstead: git push --force-with-lease/s);
    expect((await call({ action: 'list' })).output).toEqual({ terminals: [] });
  });

  it('is refused if a person would be asked, or noted where the host lets it', async () => {
    const { see } = terminals({ safety: { onAsk: 'allow' } });
    expect((await see(start(ASKS))).notes).toContainEqual(
      expect.stringMatching(/^a person would be asked about this: /),
    );
    const { refused } = terminals();
    expect((await refused(start(ASKS)))[0]).toBe('ERR_BASH_BLOCKED');
    const { see: unjudged } = terminals({ safety: 'off' });
    expect((await unjudged(start(ASKS))).notes).toEqual([]);
  });

  it('text typed later is not', async () => {
    // No repository, so that it can do no harm.
    const { see, until } = terminals({ cwd: folder() });
    await see(start("PS1='$ ' bash --norc"));
    await until('$');
    await see({ action: 'send', text: 'git push --force\n' });
    await until('not a git repository');
  });

  it('goes through onBeforeRun, the interceptor and perCall', async () => {
    const asked = vi.fn();
    const { see, refused } = terminals({
      interceptor: true,
      availableTools: ['read'],
      perCall: ({ context, toolCallId }) => {
        asked(context, toolCallId);
        return context === 'bad' ? undefined : { env: { WHO: 'ann' } };
      },
      onBeforeRun: ({ command }) => {
        if (command === 'forbidden') throw new Error('not that one');
        return command === 'other' ? { command: 'echo "$WHO"' } : undefined;
      },
    });
    const context = { user: 1 };
    const { id } = await see(start('other'), { context, toolCallId: 'c' });
    const ended = await see({ action: 'wait', id, timeout_ms: 60_000 });
    expect(ended).toMatchObject({ command: 'echo "$WHO"', lines: ['ann'] });
    expect(asked).toHaveBeenCalledWith(context, 'c');
    expect(await refused(start('forbidden'))).toEqual(['ERR_BASH_BLOCKED', 'not that one']);
    expect((await refused(start('cat package.json')))[1]).toMatch('Use the tool read');
    const { refused: broken } = terminals({
      perCall: () => {
        throw new Error('who?');
      },
    });
    expect(await broken(start('true'))).toEqual(['ERR_BASH_INVALID_ARG', 'who?']);
  });

  it('takes what the options of a command say', async () => {
    vi.stubEnv('MY_API_KEY', 'secret');
    const cwd = folder();
    const { run } = terminals({
      cwd,
      env: { A: 'a' },
      prefix: 'echo',
      timeoutMs: 60_000,
      mode: 'slow',
      stdin: 'x',
      merge: true,
    });
    expect((await run({ command: '"[$A$MY_API_KEY]" "$PWD"', cols: 300 })).lines).toEqual([`[a] ${cwd}`]);
    const { see: limited } = terminals({ timeoutMs: 300 });
    await limited(start('sleep 300'));
    const ended = await limited({ action: 'wait', timeout_ms: 60_000 });
    expect(ended.end).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(ended.text).toMatch('[terminal t1 has ended, it reached its time limit: sleep 300]');
  });

  it('asks only the model', async () => {
    const onPrompt = vi.fn();
    const { see, until } = terminals({ onPrompt });
    await see(start('read -rp "Go on? [y/N] "'));
    await until('[y/N]');
    await see({ action: 'wait', idle_ms: 1_500, timeout_ms: 2_000 });
    expect(onPrompt).not.toHaveBeenCalled();
  });

  it('takes the directory of a session, not its state', async () => {
    const session = new BashSession({ cwd: folder(), env: { A: 'a' } });
    await session.run('cd /usr; B=b');
    const { run, tool } = terminals({ session });
    expect((await run({ command: 'echo "$PWD $A$B"' })).lines).toEqual(['/usr a']);
    expect(tool.description).toMatch('<pwd>/usr</pwd>');
    await session.close();
  });

  it('names invalid options', async () => {
    const { refused } = terminals();
    expect((await refused({ ...start('true'), cwd: '/none' }))[0]).toBe('ERR_BASH_CWD_NOT_FOUND');
    const { refused: shell } = terminals({ shell: 'no-such-shell' });
    expect((await shell(start('true')))[0]).toBe('ERR_BASH_SHELL_NOT_FOUND');
    vi.stubEnv('AGENT_BASH_NO_PTY', '1');
    const [code, error] = await refused(start('true'));
    expect(code).toBe('ERR_BASH_UNSUPPORTED');
    expect(error).toMatch('AGENT_BASH_NO_PTY=1');
    const wrong = { session: {} } as unknown as BashToolOptions;
    expect(() => createTerminalTool(wrong)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
  });
});

describe('an approval of the terminal tool', () => {
  it('asks about a start only, in the directory of the tool', async () => {
    const cwd = folder();
    const { tool } = terminals({ cwd });
    const approval = createToolApproval({ tool, deny: ['npm publish:*'] });
    expect(await approval(start('vim'))).toBe('not-applicable');
    expect(await approval(start(ASKS))).toMatchObject({ type: 'user-approval' });
    expect(await approval(start('npm publish'))).toMatchObject({ type: 'denied' });
    expect(await approval({ action: 'send', text: `${ASKS}\n` })).toBe('not-applicable');
    expect((await approval.judge(start('true'))).analysis?.cwd).toBe(cwd);
  });

  it.each(MAJORS)(
    '%s: what a person approves starts, what the approval denies does not',
    async (name, { ai, script }) => {
      const { tool: terminal } = terminals({ safety: { onAsk: 'deny' } });
      const approval = createToolApproval({ tool: terminal, deny: ['npm publish:*'] });
      const calls = [ASKS, 'npm publish'].map((command): Step => ({ call: { ...start(command) }, tool: 'terminal' }));
      const six = name === 'ai 6';
      const tools = { terminal: six ? { ...terminal, needsApproval: approval.needsApproval } : terminal };
      const { model, lastResult } = script([...calls, { say: 'done' }]);
      const common = {
        model,
        tools,
        stopWhen: ai.stepCountIs(5),
        ...(!six && { toolApproval: { terminal: approval } }),
      };
      const prompt = [{ role: 'user' as const, content: 'go on' }];
      const first = await ai.generateText({ ...common, messages: prompt });
      const request = first.content.find((part) => part.type === 'tool-approval-request');
      if (!request) throw new Error('nobody was asked');
      const messages = six
        ? (first as unknown as { response: { messages: typeof prompt } }).response.messages
        : first.responseMessages;
      const second = await ai.generateText({
        ...common,
        messages: [
          ...prompt,
          ...messages,
          {
            role: 'tool',
            content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }],
          },
        ],
      });
      expect(second.text).toBe('done');
      const { terminals: all } = (await terminal.execute({ action: 'list' }, { toolCallId: '1' })) as Extract<
        TerminalToolOutput,
        { terminals: unknown[] }
      >;
      expect(all.map(({ command }) => command)).toEqual([ASKS]);
      expect(JSON.stringify(lastResult())).toMatch('npm publish');
    },
  );
});
