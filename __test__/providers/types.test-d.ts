// Not run: `tsc` over this file is the test.
import type { openai as openai3 } from '@ai-sdk/openai3';
import type { openai as openai4 } from '@ai-sdk/openai4';
import { shellTool } from '@openai/agents';
import { BashSession } from 'agent-bash';
import { createToolApproval } from 'agent-bash/ai';
import {
  type AnthropicBashInput,
  type AnthropicBashOutput,
  anthropicBash,
  type ProviderTool,
} from 'agent-bash/anthropic';
import {
  agentsShell,
  type LocalShellInput,
  type LocalShellOutput,
  openaiLocalShell,
  openaiShell,
  type ShellInput,
  type ShellOutput,
} from 'agent-bash/openai';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

const tools = { bash: anthropicBash(), shell: openaiShell(), local_shell: openaiLocalShell() };
const prompt = 'list the files';

export async function six(model: ai6.LanguageModel) {
  const { toolCalls, toolResults } = await ai6.generateText({ model, prompt, tools });
  for (const call of toolCalls) {
    if (call.dynamic) continue;
    if (call.toolName === 'bash') call.input satisfies AnthropicBashInput;
    if (call.toolName === 'shell') call.input satisfies ShellInput;
    if (call.toolName === 'local_shell') call.input satisfies LocalShellInput;
  }
  for (const result of toolResults) {
    if (result.dynamic) continue;
    if (result.toolName === 'bash') result.output satisfies AnthropicBashOutput;
    if (result.toolName === 'shell') result.output satisfies ShellOutput;
    if (result.toolName === 'local_shell') result.output satisfies LocalShellOutput;
  }
  ai6.streamText({ model, prompt, tools, experimental_context: { user: 'ann' } });
  new ai6.ToolLoopAgent({ model, tools });
  tools satisfies ai6.ToolSet;
}

export async function seven(model: ai7.LanguageModel) {
  const { toolCalls, toolResults } = await ai7.generateText({ model, prompt, tools });
  for (const call of toolCalls) {
    if (call.dynamic) continue;
    if (call.toolName === 'bash') call.input satisfies AnthropicBashInput;
    if (call.toolName === 'shell') call.input satisfies ShellInput;
    if (call.toolName === 'local_shell') call.input satisfies LocalShellInput;
  }
  for (const result of toolResults) {
    if (result.dynamic) continue;
    if (result.toolName === 'bash') result.output satisfies AnthropicBashOutput;
    if (result.toolName === 'shell') result.output satisfies ShellOutput;
    if (result.toolName === 'local_shell') result.output satisfies LocalShellOutput;
  }
  // The context may be given and may be left out.
  ai7.streamText({ model, prompt, tools, toolsContext: { bash: { user: 'ann' }, shell: { user: 'ann' } } });
  new ai7.ToolLoopAgent({ model, tools });
  tools satisfies ai7.ToolSet;
}

// Approvals know the inputs of these tools.
const approval = createToolApproval({ tool: tools.shell, allow: ['git status:*'] });
const local = createToolApproval({ tool: tools.local_shell });
const claude = createToolApproval({ tool: tools.bash });
const asking = {
  bash: { ...tools.bash, needsApproval: claude.needsApproval },
  shell: { ...tools.shell, needsApproval: approval.needsApproval },
  local_shell: { ...tools.local_shell, needsApproval: local.needsApproval },
};

export async function approvals(six: ai6.LanguageModel, seven: ai7.LanguageModel) {
  await ai6.generateText({ model: six, prompt, tools: asking });
  ai6.streamText({ model: six, prompt, tools: asking });
  const toolApproval = { bash: claude, shell: approval, local_shell: local };
  await ai7.generateText({ model: seven, prompt, tools, toolApproval });
  ai7.streamText({ model: seven, prompt, tools, toolApproval });
  new ai7.ToolLoopAgent({ model: seven, tools, toolApproval });
  ai7.streamText({ model: seven, prompt, tools: asking });
}

// Our tools accept the inputs of the providers' own tools, and return their outputs.
type Execute<T extends { execute?: unknown }> = Extract<T['execute'], (...given: never[]) => unknown>;
type Input<T extends { execute?: unknown }> = Parameters<Execute<T>>[0];
type Output<T extends { execute?: unknown }> = Exclude<
  Awaited<ReturnType<Execute<T>>>,
  { [Symbol.asyncIterator]: unknown }
>;
type Shell3 = ReturnType<typeof openai3.tools.shell>;
type Shell4 = ReturnType<typeof openai4.tools.shell>;
type Local3 = ReturnType<typeof openai3.tools.localShell>;
type Local4 = ReturnType<typeof openai4.tools.localShell>;

export function same(
  input: [Input<Shell3>, Input<Shell4>, Input<Local3>, Input<Local4>],
  output: [ShellOutput, LocalShellOutput],
): [Output<Shell3>, Output<Shell4>, Output<Local3>, Output<Local4>] {
  input satisfies [ShellInput, ShellInput, LocalShellInput, LocalShellInput];
  return [output[0], output[0], output[1], output[1]];
}

shellTool({ shell: agentsShell({ cwd: '/' }) });
shellTool({
  shell: agentsShell(),
  needsApproval: async (_, action) => (await approval.judge({ action })).verdict !== 'allow',
});

anthropicBash({ session: new BashSession(), perCall: ({ context }) => ({ cwd: String(context) }) });
const any: ProviderTool = tools.shell;
any.id satisfies string;
// @ts-expect-error the signal is the call's
openaiShell({ signal: new AbortController().signal });
// @ts-expect-error a restart is true or false
({ restart: 'yes' }) satisfies AnthropicBashInput;
