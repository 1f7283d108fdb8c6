// Not run: `tsc` over this file is the test. `createBashTool()` and its kin where users of ai 6 and ai 7 put them.
import {
  type BashTool,
  type BashToolInput,
  type BashToolOutput,
  createBashTool,
  createTerminalTool,
  type TerminalTool,
  type TerminalToolInput,
  type TerminalToolOutput,
} from 'agent-bash/ai';
import { type AnthropicBashInput, type AnthropicBashOutput, anthropicBash } from 'agent-bash/anthropic';
import {
  type LocalShellInput,
  type LocalShellOutput,
  openaiLocalShell,
  openaiShell,
  type ShellInput,
  type ShellOutput,
} from 'agent-bash/openai';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';

// Each tool by itself, as a copy, and under `tool()`.
const six = {
  bash: ai6.tool(createBashTool()),
  copy: ai6.tool({ ...createBashTool() }),
  terminal: ai6.tool(createTerminalTool()),
  terminalCopy: ai6.tool({ ...createTerminalTool() }),
  claude: ai6.tool(anthropicBash()),
  claudeCopy: ai6.tool({ ...anthropicBash() }),
  shell: ai6.tool(openaiShell()),
  local: ai6.tool({ ...openaiLocalShell() }),
};
six satisfies ai6.ToolSet;
const seven = {
  bash: ai7.tool(createBashTool()),
  copy: ai7.tool({ ...createBashTool() }),
  terminal: ai7.tool(createTerminalTool()),
  terminalCopy: ai7.tool({ ...createTerminalTool() }),
  claude: ai7.tool(anthropicBash()),
  claudeCopy: ai7.tool({ ...anthropicBash() }),
  shell: ai7.tool(openaiShell()),
  local: ai7.tool({ ...openaiLocalShell() }),
};
seven satisfies ai7.ToolSet;

// As the type `Tool`, of any and of their own input and output.
createBashTool() satisfies ai6.Tool;
createBashTool() satisfies ai7.Tool;
createBashTool() satisfies ai6.Tool<BashToolInput, BashToolOutput>;
const own7: ai7.Tool<BashToolInput, BashToolOutput> = ai7.tool(createBashTool());
const any6: ai6.Tool = createBashTool();
const any7: ai7.Tool = createBashTool();
createTerminalTool() satisfies ai6.Tool<TerminalToolInput, TerminalToolOutput>;
[own7, any6, any7] satisfies object[];

// As a `ToolSet`, bare, as a copy, and with more.
const bare = {
  bash: createBashTool(),
  terminal: createTerminalTool(),
  shell: openaiShell(),
  local: openaiLocalShell(),
};
bare satisfies ai6.ToolSet;
bare satisfies ai7.ToolSet;
const set6: ai6.ToolSet = { ...bare, claude: anthropicBash(), bash: { ...createBashTool(), strict: true } };
const set7: ai7.ToolSet = { ...bare, claude: anthropicBash(), bash: { ...createBashTool(), strict: true } };
[set6, set7] satisfies object[];

// In interfaces, whose messages carry inputs and outputs.
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;
type Bash = { input: BashToolInput; output: BashToolOutput };
type Terminal = { input: TerminalToolInput; output: TerminalToolOutput };
true satisfies Same<ai6.InferUITools<{ bash: BashTool }>['bash'], Bash>;
true satisfies Same<ai7.InferUITools<{ bash: BashTool }>['bash'], Bash>;
true satisfies Same<ai6.InferUITools<typeof six>['bash'], Bash>;
true satisfies Same<ai7.InferUITools<typeof seven>['bash'], Bash>;
true satisfies Same<ai6.InferUITools<typeof six>['copy'], Bash>;
true satisfies Same<ai7.InferUITools<typeof seven>['copy'], Bash>;
true satisfies Same<ai6.InferUITools<{ terminal: TerminalTool }>['terminal'], Terminal>;
true satisfies Same<ai7.InferUITools<typeof seven>['terminal'], Terminal>;
type Claude = { input: AnthropicBashInput; output: AnthropicBashOutput };
type Shell = { input: ShellInput; output: ShellOutput };
type Local = { input: LocalShellInput; output: LocalShellOutput };
true satisfies Same<ai6.InferUITools<typeof six>['claude'], Claude>;
true satisfies Same<ai7.InferUITools<typeof seven>['claude'], Claude>;
true satisfies Same<ai7.InferUITools<typeof seven>['claudeCopy'], Claude>;
true satisfies Same<ai6.InferUITools<typeof six>['shell'], Shell>;
true satisfies Same<ai7.InferUITools<typeof seven>['shell'], Shell>;
true satisfies Same<ai6.InferUITools<typeof six>['local'], Local>;
true satisfies Same<ai7.InferUITools<typeof seven>['local'], Local>;

export async function used(model6: ai6.LanguageModel, model7: ai7.LanguageModel) {
  const prompt = 'list the files';
  const first = await ai6.generateText({ model: model6, prompt, tools: six });
  for (const result of first.toolResults) {
    if (!result.dynamic && result.toolName === 'bash') result.output satisfies BashToolOutput;
  }
  const second = await ai7.generateText({ model: model7, prompt, tools: seven });
  for (const result of second.toolResults) {
    if (!result.dynamic && result.toolName === 'bash') result.output satisfies BashToolOutput;
  }
  // The context of ai 7 may be given and may be left out.
  ai7.streamText({ model: model7, prompt, tools: bare });
  ai7.streamText({
    model: model7,
    prompt,
    tools: bare,
    toolsContext: { bash: { user: 'ann' }, terminal: { user: 'b' } },
  });
  // @ts-expect-error a context is an object
  ai7.streamText({ model: model7, prompt, tools: bare, toolsContext: { bash: 'ann' } });
}
