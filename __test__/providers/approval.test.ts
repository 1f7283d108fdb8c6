import { createToolApproval } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { describe, expect, it, vi } from 'vitest';
import { anthropicApi, localShellCall, MAJORS, openaiApi, shellCall, use } from './fixtures/wire.ts';

const ASKED = 'git clean -fd /no-such-folder';

describe('what an approval judges', () => {
  const shell = createToolApproval({ tool: openaiShell(), deny: ['npm publish:*'] });
  const local = createToolApproval({ tool: openaiLocalShell(), deny: ['npm publish:*'] });

  it('of several commands the strictest judgement holds, with all its reasons', async () => {
    expect(await shell.judge({ action: { commands: ['ls', 'pwd'] } })).toMatchObject({ verdict: 'allow', reason: '' });
    const asked = await shell.judge({ action: { commands: ['ls', ASKED, 'git reset --hard'] } });
    expect(asked).toMatchObject({ verdict: 'ask', analysis: { command: ASKED } });
    expect(asked.reason).toMatch(/git clean[\s\S]*git reset/);
    const denied = await shell.judge({ action: { commands: [ASKED, 'npm publish', 'ls'] } });
    expect(denied).toMatchObject({ verdict: 'deny', analysis: { command: 'npm publish' } });
    expect(denied.reason).toBe('permission denied: the rule «npm publish:*» does not allow it');
  });

  it('a program is judged as it runs: its words, its directory, its variables', async () => {
    const action = { type: 'exec', command: ['bash', '-lc', 'npm publish'] } as const;
    expect(await local.judge({ action: { ...action, command: [...action.command] } })).toMatchObject({
      verdict: 'deny',
    });
    const { analysis } = await local.judge({
      action: { type: 'exec', command: ['git', 'commit', '-m', "it's"], workingDirectory: '/usr', env: { CI: '1' } },
    });
    expect(analysis).toMatchObject({ command: `CI=1 git commit -m 'it'\\''s'`, cwd: '/usr' });
  });

  it.each([
    [{ command: 'true', action: { commands: ['npm publish'] } }],
    [{ command: 'npm publish', action: { commands: ['true'] } }],
    [{ command: 'npm publish', check_pid: 1 }],
    [{ command: 'npm publish', mode: 'none' }],
    [{ action: { type: 'exec', command: ['npm', 'publish'], timeout_ms: null } }],
    [{ action: { commands: ['npm publish'], timeout_ms: null } }],
    [{ command: 'npm publish', restart: true }],
  ])('whatever of %j would run is judged, by an approval without a tool too', async (input) => {
    const plain = createToolApproval({ deny: ['npm publish:*'] });
    for (const approval of [plain, shell, local])
      expect(await approval.judge(input as never)).toMatchObject({ verdict: 'deny' });
  });

  it('a restart runs nothing', async () => {
    const approval = createToolApproval({ tool: anthropicBash(), allow: [] });
    expect(await approval({ restart: true })).toBe('not-applicable');
    expect(await approval({ command: 'ls' })).toMatchObject({ type: 'user-approval' });
  });

  it('perCall is asked once, and a throw in it denies', async () => {
    const perCall = vi.fn(() => ({ cwd: '/usr' }));
    const approval = createToolApproval({ tool: openaiShell({ perCall }) });
    expect(await approval.judge({ action: { commands: ['ls', 'ls'] } })).toMatchObject({ analysis: { cwd: '/usr' } });
    expect(perCall).toHaveBeenCalledOnce();
    const broken = openaiShell({ perCall: () => Promise.reject(new Error('nobody')) as never });
    expect(await createToolApproval({ tool: broken }).judge({ action: { commands: ['ls'] } })).toMatchObject({
      verdict: 'deny',
      reason: 'nobody',
    });
  });
});

describe.each(MAJORS)('%s', (name, { ai, claude, gpt }) => {
  const stopWhen = ai.stepCountIs(5);
  /** The approval where the major looks for it. */
  const given = <T extends object>(key: string, tool: T, approval: ReturnType<typeof createToolApproval>) =>
    (name === 'ai 6'
      ? { tools: { [key]: { ...tool, needsApproval: approval.needsApproval } } }
      : { tools: { [key]: tool }, toolApproval: { [key]: approval } }) as never as { tools: { [key: string]: never } };

  it('openaiShell: a person is asked about the action, and an approved one runs', async () => {
    const shell = openaiShell({ safety: { onAsk: 'deny' } });
    const approval = createToolApproval({ tool: shell });
    const api = openaiApi([shellCall(['echo plain', ASKED])], 'done');
    const options = { model: gpt(api), stopWhen, ...given('shell', shell, approval) };
    const first = await ai.generateText({ ...options, prompt: 'go on' });
    expect(api.requests).toHaveLength(1);
    const request = first.content.find((part) => part.type === 'tool-approval-request');
    expect(request).toBeDefined();
    const answer = { type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true } as const;
    await ai.generateText({
      ...options,
      messages: [
        { role: 'user', content: 'go on' },
        ...(first.response.messages as never[]),
        { role: 'tool', content: [answer] },
      ],
    });
    const { output } = api.requests[1].input.find(({ type }: { type: string }) => type === 'shell_call_output');
    expect(output).toMatchObject([{ stdout: 'plain\n' }, { stderr: expect.stringContaining('no-such-folder') }]);
    expect(output[1].outcome.exit_code).not.toBe(126);
    expect(output[1].stderr).not.toContain('a person would be asked');
  });

  it.each([
    ['echo first', 'npm publish', 'npm publish'],
    [ASKED, 'npm publish'],
  ])('openaiShell: nothing of an action runs that is refused, and OpenAI reads why: %s, %s', async (...commands) => {
    const onBeforeRun = vi.fn();
    const shell = openaiShell({ onBeforeRun });
    const approval = createToolApproval({ tool: shell, deny: ['npm publish:*'] });
    const api = openaiApi([shellCall(commands)], [shellCall(['echo next'])], 'done');
    await ai.generateText({ model: gpt(api), prompt: 'go on', stopWhen, ...given('shell', shell, approval) });
    expect(onBeforeRun.mock.calls).toEqual([[{ command: 'echo next' }]]);
    expect(api.requests[1].input.at(-1)).toEqual({
      type: 'shell_call_output',
      call_id: 'call_1',
      output: commands.map(() => ({
        stdout: '',
        stderr: 'permission denied: the rule «npm publish:*» does not allow it',
        outcome: { type: 'exit', exit_code: 126 },
      })),
    });
  });

  it('openaiLocalShell: a refused program does not run, and OpenAI reads why', async () => {
    const onBeforeRun = vi.fn();
    const local = openaiLocalShell({ onBeforeRun });
    const approval = createToolApproval({ tool: local, deny: ['npm publish:*'] });
    const api = openaiApi([localShellCall(['npm', 'publish'])], 'done');
    await ai.generateText({ model: gpt(api), prompt: 'go on', stopWhen, ...given('local_shell', local, approval) });
    expect(onBeforeRun).not.toHaveBeenCalled();
    expect(api.requests[1].input.at(-1)).toMatchObject({
      type: 'local_shell_call_output',
      output: 'permission denied: the rule «npm publish:*» does not allow it',
    });
  });

  it('anthropicBash: a refused command does not run, and Claude reads why', async () => {
    const onBeforeRun = vi.fn();
    const bash = anthropicBash({ onBeforeRun });
    const approval = createToolApproval({ tool: bash, deny: ['npm publish:*'] });
    const api = anthropicApi([use({ command: 'npm publish', mode: 'none' })], 'done');
    await ai.generateText({ model: claude(api), prompt: 'go on', stopWhen, ...given('bash', bash, approval) });
    expect(onBeforeRun).not.toHaveBeenCalled();
    expect(JSON.stringify(api.requests[1].messages.at(-1))).toContain('the rule «npm publish:*» does not allow it');
  });
});
