import { join } from 'node:path';
import { type AgentsSandboxOptions, agentsApproval, agentsSandbox } from 'agent-bash/openai-agents';
import { describe, expect, it } from 'vitest';
import { alive, finished, folder, HANG } from '../support/index.ts';
import { HELD_PIPE, pidIn, refuses } from './support.ts';

interface Result {
  output: string;
  exitCode?: number;
  sessionId?: number;
}

/** `UnixLocalSandboxSession` of the framework, as far as the adapter uses it. */
class UnixLocalSandboxSession {
  readonly state: { workspaceRootPath: string; environment: Record<string, string>; configuredExposedPorts: number[] };
  constructor(workspaceRootPath: string, environment: Record<string, string>) {
    this.state = { workspaceRootPath, environment, configuredExposedPorts: [] };
  }
  async exec(_args: object): Promise<Result & { stdout: string; stderr: string }> {
    throw new Error('the shell of the framework');
  }
  async execCommand(args: object): Promise<string> {
    return JSON.stringify(await this.exec(args));
  }
  async writeStdin({ sessionId }: { sessionId: number; chars?: string; yieldTimeMs?: number }): Promise<string> {
    return `session not found: ${sessionId}`;
  }
  async stop(): Promise<void> {}
  assertSessionUsable(): void {}
  resolveCommandWorkdir(path = '.'): string {
    return join(this.state.workspaceRootPath, path);
  }
  async resolveRunAsIdentity(user?: string): Promise<{ isCurrentUser: boolean } | undefined> {
    return user === undefined ? undefined : { isCurrentUser: user === 'me' };
  }
  translateCommandInput(command: string): string {
    return command.replaceAll('/workspace', this.state.workspaceRootPath);
  }
  translateCommandOutput(output: string): string {
    return output.replaceAll(this.state.workspaceRootPath, '/workspace');
  }
}

class UnixLocalSandboxClient {
  readonly given: object;
  constructor(given: object) {
    this.given = given;
  }
  async create(environment: Record<string, string> = {}): Promise<UnixLocalSandboxSession> {
    return new UnixLocalSandboxSession(folder(), environment);
  }
  resume(environment: Record<string, string>): Promise<UnixLocalSandboxSession> {
    return this.create(environment);
  }
}

class SandboxUnsupportedFeatureError extends Error {}

const local = { UnixLocalSandboxClient, UnixLocalSandboxSession, SandboxUnsupportedFeatureError };

async function sessionOf(options?: AgentsSandboxOptions<typeof local>, environment?: Record<string, string>) {
  const session = await agentsSandbox(local, options).create(environment);
  finished(() => session.stop());
  return session;
}

describe('agentsSandbox', () => {
  it('is the client of the framework under its own name', async () => {
    const client = agentsSandbox(local, { local: { workspaceBaseDir: '/srv' } });
    expect(client).toMatchObject({ backendId: 'agent_bash', given: { workspaceBaseDir: '/srv' } });
    expect(client).toBeInstanceOf(UnixLocalSandboxClient);
  });

  it('runs commands in the workspace with the variables of the manifest alone', async () => {
    const session = await sessionOf({ env: { A: 'option', B: 'option' } }, { A: 'own', PWD: '/workspace' });
    const { exitCode, output } = await session.exec({ cmd: 'cd /workspace; pwd; echo "$A $B $HOME"; exit 3' });
    expect([exitCode, output]).toEqual([3, '/workspace\nown option /workspace\n']);
  });

  it('answers execCommand and writeStdin in the words of the framework', async () => {
    const session = await sessionOf();
    const begun = JSON.parse(await session.execCommand({ cmd: 'read a; echo "<$a>" >&2', yieldTimeMs: 0 }));
    expect(begun).toMatchObject({ sessionId: expect.any(Number), output: '' });
    const { sessionId } = begun;
    const ended = JSON.parse(await session.writeStdin({ sessionId, chars: 'text\n', yieldTimeMs: HANG }));
    expect(ended).toMatchObject({ exitCode: 0, output: '<text>\n' });
    expect(await session.writeStdin({ sessionId })).toBe(`session not found: ${sessionId}`);
  });

  it('keeps the last line within maxOutputTokens, also of an output that is longer than what is kept', async () => {
    const session = await sessionOf();
    for (const count of [100_000, 1_000_000]) {
      const bytes = Buffer.byteLength(Array.from({ length: count }, (_, n) => `${n + 1}\n`).join('')) + 5;
      const cut = await session.exec({ cmd: `seq ${count}; echo last`, maxOutputTokens: 10 });
      expect(cut.output).toMatch(/\nlast\n(\[stdout: Showing last \d+ of 1000001 lines\])?$/);
      expect(cut).toMatchObject({ originalTokenCount: Math.ceil(bytes / 4) });
    }
  });

  it('ends with its session all that commands have started', async () => {
    const session = await sessionOf();
    expect(await session.exec({ cmd: HELD_PIPE })).toMatchObject({ exitCode: 0 });
    const child = await pidIn(session.state.workspaceRootPath);
    expect(alive(child)).toBe(true);
    await session.stop();
    expect(alive(child)).toBe(false);
  });

  it('starts nothing that a stop has overtaken', async () => {
    const session = await sessionOf();
    const late = session.exec({ cmd: 'echo started > made', yieldTimeMs: 0 });
    await session.stop();
    await expect(late).rejects.toMatchObject({ code: 'ERR_BASH_CLOSED' });
    expect(await session.exec({ cmd: 'ls' })).toMatchObject({ output: '' });
  });

  it('refuses as exit code 126, with the reason', async () => {
    const session = await sessionOf({ approval: { deny: ['echo:*'] } });
    for (const args of [{ cmd: 'echo a' }, { cmd: 'rm -rf /' }, { cmd: 'true', shell: 'python3' }]) {
      expect(await session.exec(args)).toMatchObject({
        exitCode: 126,
        stdout: '',
        stderr: expect.stringMatching(/\w/),
      });
    }
    await expect(session.exec({ cmd: 'true', runAs: 'other' })).rejects.toThrow(SandboxUnsupportedFeatureError);
    expect(await session.exec({ cmd: 'true', runAs: 'me' })).toMatchObject({ exitCode: 0 });
  });

  it('refuses other modules and options at once', () => {
    refuses(() => agentsSandbox({} as never), 'ERR_BASH_UNSUPPORTED', '@openai/agents/sandbox/local, version 0.20.0');
    refuses(() => agentsSandbox(local, { locals: {} } as never), 'ERR_BASH_INVALID_ARG', 'local');
    refuses(() => agentsSandbox(local, { cwd: '/' } as never), 'ERR_BASH_UNSUPPORTED', 'cwd');
    refuses(() => agentsSandbox(local, { mode: 'background' }), 'ERR_BASH_UNSUPPORTED', 'background');
  });
});

describe('agentsApproval', () => {
  const tool = { type: 'function', name: 'exec_command', needsApproval: async (..._call: unknown[]) => false };
  const other = { ...tool, name: 'write_stdin' };

  it('asks about commands by the rules and the analysis', async () => {
    const [made, same] = agentsApproval({ ask: ['git push:*'] })([tool, other]);
    expect(same).toBe(other);
    const asks = (cmd: string) => made?.needsApproval({}, { cmd }, 'call-1');
    expect(await Promise.all(['ls', 'cd a && git push', 'git reset --hard', 'rm -rf /'].map(asks))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('rejects what is denied, with the reason', async () => {
    const [made] = agentsApproval({ deny: ['curl:*'] })([tool]) as unknown as [
      { inputGuardrails: { run(data: object): Promise<{ behavior: object }> }[] },
    ];
    const behaviorOf = async (text: string) =>
      (await made.inputGuardrails[0]?.run({ toolCall: { arguments: text, callId: '' } }))?.behavior;
    const message = expect.stringContaining('curl:*');
    expect(await behaviorOf('{"cmd":"curl x"}')).toEqual({ type: 'rejectContent', message });
    expect(await behaviorOf('{"cmd":"true"}')).toEqual({ type: 'allow' });
    expect(await behaviorOf('{')).toEqual({ type: 'allow' });
  });

  it('refuses options that have no place', () => {
    refuses(() => agentsApproval({ onAsk: () => true }), 'ERR_BASH_UNSUPPORTED', 'onAsk');
    refuses(() => agentsApproval({ asks: [] } as never), 'ERR_BASH_INVALID_ARG', 'ask');
  });
});
