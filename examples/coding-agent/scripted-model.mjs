import { setTimeout as pause } from 'node:timers/promises';

/**
 * @typedef {import('@ai-sdk/provider').LanguageModelV3} LanguageModelV3
 * @typedef {import('@ai-sdk/provider').LanguageModelV3Prompt} LanguageModelV3Prompt
 * @typedef {import('@ai-sdk/provider').LanguageModelV3StreamPart} LanguageModelV3StreamPart
 * @typedef {import('./script.mjs').Done} Done
 * @typedef {import('./script.mjs').Turn} Turn
 */

const USAGE = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** Matches a command that did not end with exit code 0. */
const WENT_WRONG = /^\[command (?:failed|killed|timed out|interrupted)/;

/**
 * A language model that answers by script from the conversation so far. Like a real model, it streams, calls tools and
 * keeps no state.
 * @param {(history: Done[]) => Turn} script
 * @param {{ wordMs?: number }} [options] `wordMs`: time per word. Default 0.
 * @returns {LanguageModelV3}
 */
export function scriptedModel(script, { wordMs = 0 } = {}) {
  return {
    specificationVersion: 'v3',
    provider: 'agent-bash-example',
    modelId: 'scripted',
    supportedUrls: {},

    async doStream({ prompt, abortSignal }) {
      return { stream: ReadableStream.from(parts(script(historyOf(prompt)), turnsOf(prompt), wordMs, abortSignal)) };
    },

    async doGenerate({ prompt }) {
      const { say, call } = script(historyOf(prompt));
      return {
        content: [{ type: 'text', text: say }, ...(call ? [toolCall(call, turnsOf(prompt))] : [])],
        finishReason: finishReason(call),
        usage: USAGE,
        warnings: [],
      };
    },
  };
}

/**
 * @param {Turn} turn
 * @param {number} number
 * @param {number} wordMs
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncGenerator<LanguageModelV3StreamPart>}
 */
async function* parts({ say, call }, number, wordMs, signal) {
  yield { type: 'stream-start', warnings: [] };
  const id = `text-${number}`;
  yield { type: 'text-start', id };
  for (const delta of say.match(/\S+\s*/g) ?? []) {
    if (wordMs > 0) await pause(wordMs, undefined, signal && { signal });
    yield { type: 'text-delta', id, delta };
  }
  yield { type: 'text-end', id };
  if (call) {
    const made = toolCall(call, number);
    yield { type: 'tool-input-start', id: made.toolCallId, toolName: made.toolName };
    for (const delta of made.input.match(/.{1,40}/gs) ?? [])
      yield { type: 'tool-input-delta', id: made.toolCallId, delta };
    yield { type: 'tool-input-end', id: made.toolCallId };
    yield made;
  }
  yield { type: 'finish', finishReason: finishReason(call), usage: USAGE };
}

/** @param {NonNullable<Turn['call']>} call @param {number} number */
function toolCall(call, number) {
  return /** @type {const} */ ({
    type: 'tool-call',
    toolCallId: `call-${number}`,
    toolName: 'bash',
    input: JSON.stringify(call),
  });
}

/** @param {Turn['call']} call */
function finishReason(call) {
  return { unified: call ? /** @type {const} */ ('tool-calls') : /** @type {const} */ ('stop'), raw: undefined };
}

/** @param {LanguageModelV3Prompt} prompt */
function turnsOf(prompt) {
  return prompt.filter(({ role }) => role === 'assistant').length;
}

/**
 * Returns the commands of a conversation with their answers.
 * @param {LanguageModelV3Prompt} prompt
 * @returns {Done[]}
 */
export function historyOf(prompt) {
  /** @type {Map<string, string>} */
  const commands = new Map();
  /** @type {Done[]} */
  const history = [];
  for (const message of prompt) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call') commands.set(part.toolCallId, Object(part.input).command ?? '');
      if (part.type !== 'tool-result') continue;
      const { output } = part;
      const text = output.type === 'text' || output.type === 'error-text' ? output.value : JSON.stringify(output);
      const ok = output.type === 'text' && !WENT_WRONG.test(text);
      history.push({ command: commands.get(part.toolCallId) ?? '', text, ok });
    }
  }
  return history;
}
