// Not run: `tsc` over this file is the test.
import { BackgroundRegistry, BashSession } from 'agent-bash';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type AskPerson,
  type BashTool,
  type BashToolInput,
  type BashToolOutput,
  type BashToolWait,
  backgroundNotices,
  createBashTool,
  createToolApproval,
  INTERCEPT_RULES,
  type InterceptRule,
  type ToolApproval,
} from 'agent-bash/ai';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

const bash = createBashTool();
const prompt = 'list the files';

export async function six(model: ai6.LanguageModel) {
  const generated = await ai6.generateText({ model, prompt, tools: { bash } });
  for (const result of generated.toolResults) {
    if (!result.dynamic) result.output satisfies BashToolOutput;
  }
  for (const call of generated.toolCalls) {
    if (!call.dynamic) call.input satisfies BashToolInput;
  }
  ai6.streamText({ model, prompt, tools: { bash }, experimental_context: { user: 'ann' } });
  const agent = new ai6.ToolLoopAgent({ model, tools: { bash: createBashTool() } });
  await agent.generate({ prompt });
  ({ bash }) satisfies ai6.ToolSet;
  ai6.streamText({ model, prompt, tools: { bash: { ...createBashTool(), strict: true } } });
  ai6.tool(bash);
}

export async function seven(model: ai7.LanguageModel) {
  const generated = await ai7.generateText({ model, prompt, tools: { bash }, timeout: { toolMs: 1_000 } });
  for (const result of generated.toolResults) {
    if (!result.dynamic) result.output satisfies BashToolOutput;
  }
  for (const call of generated.toolCalls) {
    if (!call.dynamic) call.input satisfies BashToolInput;
  }
  // The context may be given and may be left out.
  ai7.streamText({ model, prompt, tools: { bash }, toolsContext: { bash: { user: 'ann' } } });
  ai7.streamText({ model, prompt, tools: { bash } });
  ai7.streamText({ model, prompt, tools: { bash: { ...createBashTool(), strict: true } } });
  const agent = new ai7.ToolLoopAgent({ model, tools: { bash: createBashTool() } });
  await agent.generate({ prompt });
  ({ bash }) satisfies ai7.ToolSet;
}

export type Six = ai6.InferUITools<{ bash: BashTool }>['bash'];
export type Seven = ai7.InferUITools<{ bash: BashTool }>['bash'];
const six_: Six = null as unknown as { input: BashToolInput; output: BashToolOutput };
const seven_: Seven = null as unknown as { input: BashToolInput; output: BashToolOutput };
six_.output satisfies BashToolOutput;
seven_.output satisfies BashToolOutput;

// Hooks may be async, may return nothing and may have no return at all.
createBashTool({
  onBeforeRun: () => {},
  onAfterRun: async () => {},
  perCall: ({ context, toolCallId }) => ({ cwd: String(context), env: { CALL: toolCallId } }),
  description: ({ cwd }) => cwd,
});
createBashTool({ onBeforeRun: async ({ command }) => ({ command: `${command} -v` }) });
createBashTool({
  onAfterRun: ({ result }) =>
    'exitCode' in result && result.exitCode === 1 ? { error: 'no', code: 'ERR' } : undefined,
});
// One session for all, or one a user; a result in a session says where it is then.
const sessions = new Map([['ann', new BashSession({ cwd: '/' })]]);
createBashTool({ session: new BashSession() });
createBashTool({ perCall: ({ context }) => ({ session: sessions.get(String(context)) }) });
export const folderOf = (output: BashToolOutput): string | null => ('cwd' in output ? output.cwd : null);
// @ts-expect-error a session is one
createBashTool({ session: '/' });
// @ts-expect-error the signal is the call's
createBashTool({ signal: new AbortController().signal });
({ check_pid: 1 }) satisfies BashToolInput;
({ command: null, kill_pid: 1 }) satisfies BashToolInput;
({ wait_pid: 1, port: 3000, pattern: null, timeout_ms: 5_000 }) satisfies BashToolInput;
// @ts-expect-error a port is a number
({ wait_pid: 1, port: '3000' }) satisfies BashToolInput;
export const endOf = (output: BashToolOutput) => ('task' in output ? output.waited?.end : undefined);
endOf satisfies (output: BashToolOutput) => BashToolWait['end'] | undefined;
// @ts-expect-error a pid is a number
({ check_pid: '1' }) satisfies BashToolInput;

// The notices go straight into `prepareStep`, alone or with more.
const registry = new BackgroundRegistry();
const prepareStep = backgroundNotices(registry);
const withRegistry = { bash: createBashTool({ registry }) };

export async function notices(six: ai6.LanguageModel, seven: ai7.LanguageModel) {
  await ai6.generateText({ model: six, prompt, tools: withRegistry, prepareStep });
  ai6.streamText({ model: six, prompt, tools: withRegistry, prepareStep });
  new ai6.ToolLoopAgent({ model: six, tools: withRegistry, prepareStep });
  await ai7.generateText({ model: seven, prompt, tools: withRegistry, prepareStep });
  ai7.streamText({ model: seven, prompt, tools: withRegistry, prepareStep });
  new ai7.ToolLoopAgent({ model: seven, tools: withRegistry, prepareStep });
  new ai7.ToolLoopAgent({
    model: seven,
    tools: withRegistry,
    prepareStep: (step) => ({ ...prepareStep(step), activeTools: ['bash'] }),
  });
}

// An approval goes straight into `toolApproval`, and its function into the tool.
const approval = createToolApproval({ tool: bash, allow: ['git status:*'] });
const asking = { bash: { ...bash, needsApproval: approval.needsApproval } };

export async function approvals(six: ai6.LanguageModel, seven: ai7.LanguageModel) {
  await ai6.generateText({ model: six, prompt, tools: asking });
  ai6.streamText({ model: six, prompt, tools: asking });
  new ai6.ToolLoopAgent({ model: six, tools: asking });
  await ai7.generateText({ model: seven, prompt, tools: { bash }, toolApproval: { bash: approval } });
  ai7.streamText({ model: seven, prompt, tools: { bash }, toolApproval: { bash: createToolApproval() } });
  new ai7.ToolLoopAgent({ model: seven, tools: { bash }, toolApproval: { bash: approval } });
  ai7.streamText({ model: seven, prompt, tools: asking });
  asking satisfies ai7.ToolSet;
}
approval satisfies ToolApproval;
createBashTool({ interceptor: true, availableTools: Object.keys(asking) });
createBashTool({
  interceptor: [...INTERCEPT_RULES, { pattern: /^cat/, tool: 'read', message: '' }] satisfies InterceptRule[],
});
createBashTool({ safety: { rules: { 'git-blind-add': 'ask' }, wrappers: { retry: 'exec-rest' }, onAsk: 'deny' } });
// @ts-expect-error an unknown kind
createBashTool({ safety: { wrappers: { retry: 'twice' } } });
// People who are asked elsewhere than by the SDK.
const person: AskPerson = async ({ command, reasons, actor, undo }, { signal }) => {
  const words: string = [command, ...reasons, actor?.agent ?? '', undo ?? 'unknown'].join('\n');
  return { approved: !signal.aborted, reason: words } satisfies ApprovalAnswer;
};
createToolApproval({ page: true, ask: person });
createToolApproval({ page: true, ask: { rules: ['git push:*'], person } });
createToolApproval({ ask: () => ({ approved: true }) });
((question: ApprovalQuestion) => question.verdict satisfies 'ask') satisfies unknown;
// @ts-expect-error no answer
createToolApproval({ ask: () => true });
// @ts-expect-error not whether
createToolApproval({ page: 'yes' });
// @ts-expect-error an unknown level
createToolApproval({ rules: { 'git-blind-add': 'never' } });

// A sandbox of either major, or anything with `runCommand`.
declare const published: ai7.Experimental_SandboxSession;
declare const remote: {
  runCommand(command: string, args?: string[], options?: { signal?: AbortSignal }): Promise<RemoteFinished>;
  runCommand(params: RemoteParams & { detached: true }): Promise<{ cmdId: string }>;
  runCommand(params: RemoteParams): Promise<RemoteFinished>;
  writeFiles(
    files: { path: string; content: string | Uint8Array }[],
    options?: { signal?: AbortSignal },
  ): Promise<void>;
};
interface RemoteParams {
  cmd: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  sudo?: boolean;
  detached?: boolean;
  signal?: AbortSignal;
}
interface RemoteFinished {
  exitCode: number;
  stdout(options?: { signal?: AbortSignal }): Promise<string>;
  stderr(options?: { signal?: AbortSignal }): Promise<string>;
}
createBashTool({ sandbox: published });
createBashTool({ sandbox: remote });
createBashTool({ sandbox: createLocalSandbox() });
createBashTool({ perCall: ({ context }) => ({ sandbox: (context as { sandbox: typeof remote }).sandbox }) });
export function sandboxed(model: ai7.LanguageModel) {
  const experimental_sandbox: ai7.Experimental_SandboxSession = createLocalSandboxSession({ cwd: '/' });
  ai7.streamText({ model, prompt, tools: { bash }, experimental_sandbox });
  new ai7.ToolLoopAgent({ model, tools: { bash: createBashTool() } }).generate({ prompt, experimental_sandbox });
  createBashTool({ sandbox: experimental_sandbox });
}
// @ts-expect-error nothing runs there
createBashTool({ sandbox: {} });
