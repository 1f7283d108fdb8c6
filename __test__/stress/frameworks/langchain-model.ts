import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';

/** A chat model that runs one command with the shell that it is given, and then repeats what the shell said. */
export class Caller extends BaseChatModel {
  readonly #command: string;
  #shell = '';

  constructor(command: string) {
    super({});
    this.#command = command;
  }

  _llmType() {
    return 'caller';
  }

  override bindTools(tools: { name?: string }[]) {
    this.#shell = tools.find(({ name }) => name === 'bash' || name === 'execute')?.name ?? '';
    return this;
  }

  async _generate(messages: BaseMessage[]) {
    const last = messages.at(-1);
    const call = { id: 'call-1', type: 'tool_call' as const, name: this.#shell, args: { command: this.#command } };
    const message =
      last instanceof ToolMessage
        ? new AIMessage(String(last.content))
        : new AIMessage({ content: '', tool_calls: [call] });
    return { generations: [{ text: String(message.content), message }] };
  }
}
