/** A part of a prompt, as far as it is read. */
interface Part {
  type: string;
  output?: { type: string; value?: unknown; reason?: string };
}

/** What a call to the model has. */
interface Call {
  prompt: { role: string; content: string | Part[] }[];
  tools?: { name: string }[];
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const metadata = { id: 'response-1', modelId: 'caller', timestamp: new Date(0) };

/** A model that runs commands one after another in the shell of a workspace, and then repeats what the last said. */
export function caller(...inputs: { command: string; [name: string]: unknown }[]) {
  const prompts: Call['prompt'][] = [];
  const answer = ({ prompt }: Call) => {
    prompts.push(prompt);
    const said = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content as Part[]);
    const input = inputs[said.length];
    const text = JSON.stringify(said.at(-1)?.output?.value ?? said.at(-1)?.output ?? null);
    return { input, id: `call-${said.length + 1}`, text };
  };
  return {
    specificationVersion: 'v2' as const,
    provider: 'test',
    modelId: 'caller',
    supportedUrls: {},
    prompts,
    async doGenerate(call: Call) {
      const { input, id, text } = answer(call);
      const content = input
        ? [
            {
              type: 'tool-call',
              toolCallId: id,
              toolName: 'mastra_workspace_execute_command',
              input: JSON.stringify(input),
            },
          ]
        : [{ type: 'text', text }];
      return { content, finishReason: input ? 'tool-calls' : 'stop', usage, warnings: [], response: metadata };
    },
    async doStream(call: Call) {
      const { input, id, text } = answer(call);
      const parts = input
        ? [
            {
              type: 'tool-call',
              toolCallId: id,
              toolName: 'mastra_workspace_execute_command',
              input: JSON.stringify(input),
            },
          ]
        : [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: text },
            { type: 'text-end', id: 't' },
          ];
      const finish = { type: 'finish', finishReason: input ? 'tool-calls' : 'stop', usage };
      const all = [
        { type: 'stream-start', warnings: [] },
        { type: 'response-metadata', ...metadata },
        ...parts,
        finish,
      ];
      return { stream: ReadableStream.from(all) };
    },
  };
}
