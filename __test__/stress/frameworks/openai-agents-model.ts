import { type Model, type ModelRequest, type ModelResponse, setTracingDisabled, Usage } from '@openai/agents';

setTracingDisabled(true);

/** A call of a tool: `exec_command` with a text, or another one with its input. */
export type Turn = string | { tool?: string; input: object };

/** A model that makes these calls, one after another, and then says what the last of them gave. */
export class Caller implements Model {
  readonly #turns: Turn[];
  #calls = 0;

  constructor(...turns: Turn[]) {
    this.#turns = turns;
  }

  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const turn = this.#turns[this.#calls];
    const last = Array.isArray(input) ? input.at(-1) : undefined;
    const usage = new Usage();
    if (turn === undefined) {
      const { output } = Object(last) as { output?: { text?: string } };
      const content = [{ type: 'output_text' as const, text: String(output?.text ?? output) }];
      return { usage, output: [{ type: 'message', role: 'assistant', status: 'completed', content }] };
    }
    this.#calls += 1;
    const { tool = 'exec_command', input: given } = typeof turn === 'string' ? { input: { cmd: turn } } : turn;
    const call = { callId: `call-${this.#calls}`, name: tool, arguments: JSON.stringify(given) };
    return { usage, output: [{ type: 'function_call', status: 'completed', ...call }] };
  }

  // biome-ignore lint/correctness/useYield: no test streams
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error('no stream');
  }
}
