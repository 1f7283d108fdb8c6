// Not run: `tsc` over this file is the test.
import type { PtySession } from 'agent-bash';
import {
  createBashTool,
  createTerminalTool,
  createToolApproval,
  type TerminalTool,
  type TerminalToolInput,
  type TerminalToolOutput,
} from 'agent-bash/ai';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

const bash = createBashTool();
const terminal = createTerminalTool({ cwd: '/', perCall: ({ context }) => ({ env: { USER: String(context) } }) });
const tools = { bash, terminal };
const prompt = 'edit the file';
const approval = createToolApproval({ tool: terminal, allow: ['vim:*'] });
const asking = { terminal: { ...terminal, needsApproval: approval.needsApproval } };

export async function six(model: ai6.LanguageModel) {
  const generated = await ai6.generateText({ model, prompt, tools: { terminal } });
  for (const result of generated.toolResults) if (!result.dynamic) result.output satisfies TerminalToolOutput;
  for (const call of generated.toolCalls) if (!call.dynamic) call.input satisfies TerminalToolInput;
  ai6.streamText({ model, prompt, tools, experimental_context: { user: 'ann' } });
  ai6.streamText({ model, prompt, tools: { terminal: { ...terminal, strict: true } } });
  ai6.streamText({ model, prompt, tools: asking });
  new ai6.ToolLoopAgent({ model, tools });
  tools satisfies ai6.ToolSet;
}

export async function seven(model: ai7.LanguageModel) {
  const generated = await ai7.generateText({ model, prompt, tools: { terminal }, timeout: { toolMs: 1_000 } });
  for (const result of generated.toolResults) if (!result.dynamic) result.output satisfies TerminalToolOutput;
  for (const call of generated.toolCalls) if (!call.dynamic) call.input satisfies TerminalToolInput;
  ai7.streamText({ model, prompt, tools, toolsContext: { terminal: { user: 'ann' } } });
  ai7.streamText({ model, prompt, tools, toolApproval: { terminal: approval, bash: createToolApproval() } });
  ai7.streamText({ model, prompt, tools: asking });
  new ai7.ToolLoopAgent({ model, tools });
  tools satisfies ai7.ToolSet;
}

export type Six = ai6.InferUITools<{ terminal: TerminalTool }>['terminal'];
export type Seven = ai7.InferUITools<{ terminal: TerminalTool }>['terminal'];
(null as unknown as Six).output satisfies TerminalToolOutput;
(null as unknown as Seven).input satisfies TerminalToolInput;

export async function used() {
  await using tool: AsyncDisposable = createTerminalTool();
  tool satisfies AsyncDisposable;
  const output = await terminal.execute({ action: 'start', command: 'vim' }, { toolCallId: '1' });
  if ('error' in output) output.code satisfies string;
  else if ('terminals' in output) output.terminals[0]?.id satisfies string | undefined;
  else output.lines satisfies string[];
}

createBashTool({ terminal: {} });
createBashTool({ terminal: { cols: 100, rows: 30, onStart: (pty) => void (pty satisfies PtySession) } });
createBashTool({ perCall: () => ({ terminal: { onStart: async (pty, { command }) => void pty.write(command) } }) });
// @ts-expect-error a size is a number
createBashTool({ terminal: { cols: '80' } });
// @ts-expect-error an unknown action
({ action: 'type' }) satisfies TerminalToolInput;
