import { BackgroundRegistry } from 'agent-bash';
import { BASH_INSTRUCTIONS, backgroundNotices, createBashTool, createToolApproval } from 'agent-bash/ai';
import { stepCountIs, ToolLoopAgent } from 'ai6';
import { askPerson } from './ask.mjs';

const INSTRUCTIONS = `You are a careful coding agent. You work in one folder, with a bash tool and nothing else.
Say in a sentence what you are about to do, do it, and read the result before you go on.
Run the tests before and after a change. Commit only what belongs to the task. When you cannot do something, say so.

${BASH_INSTRUCTIONS}`;

/** More steps than a small task takes, and an end for a model that goes in circles. */
const MAX_STEPS = 60;
/** After an interruption: the time in which the command and all it started are ended. */
const WIND_DOWN_MS = 4_000;

/**
 * @typedef {object} Run
 * @property {import('ai6').LanguageModel} model
 * @property {string} task
 * @property {string} folder Where its commands run.
 * @property {Record<string, string | null>} env Variables for its commands.
 * @property {import('./transcript.mjs').Transcript} transcript
 * @property {AbortSignal} signal Ends the command that runs, and the agent.
 */

/**
 * Runs the agent to its end.
 * @param {Run} run
 * @returns {Promise<{ finished: boolean }>} Whether it came to an end of its own, without an error.
 */
export async function runAgent({ model, task, folder, env, transcript, signal }) {
  const commands = new Commands();
  // Without a folder of its own: what the agent starts in the background ends with it, even when it is killed.
  const registry = new BackgroundRegistry();
  const bash = createBashTool({
    cwd: folder,
    env,
    registry,
    perCall: ({ toolCallId }) => ({
      onBeforeRun: () => commands.began(toolCallId),
      onAfterRun: ({ result }) => commands.ended(toolCallId, result),
    }),
  });
  const approval = createToolApproval({ tool: bash });
  const agent = new ToolLoopAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: { bash: { ...bash, needsApproval: approval.needsApproval } },
    prepareStep: backgroundNotices(registry),
    stopWhen: stepCountIs(MAX_STEPS),
  });

  let failed = false;
  let finishReason = '';
  /** @type {import('ai6').ModelMessage[]} */
  const messages = [{ role: 'user', content: task }];
  try {
    for (;;) {
      /** @type {{ approvalId: string, toolCall: { toolCallId: string, input: unknown } }[]} */
      const requests = [];
      const stream = await agent.stream({ messages, abortSignal: signal });
      for await (const part of stream.fullStream) {
        if (part.type === 'text-start') transcript.gap();
        else if (part.type === 'text-delta') transcript.say(part.text);
        else if (part.type === 'tool-call') transcript.begin(part.toolCallId, Object(part.input));
        else if (part.type === 'tool-approval-request') requests.push(part);
        else if (part.type === 'tool-output-denied')
          transcript.end(part.toolCallId, { error: 'it was not approved', code: '' });
        else if (part.type === 'tool-result' && part.preliminary)
          transcript.progress(part.toolCallId, Object(part.output));
        else if (part.type === 'tool-result') transcript.end(part.toolCallId, Object(part.output));
        else if (part.type === 'tool-error')
          transcript.end(part.toolCallId, { error: messageOf(part.error), code: '' });
        else if (part.type === 'finish') finishReason = part.finishReason;
        else if (part.type === 'error') {
          failed = true;
          if (!signal.aborted) transcript.problem(`The model failed: ${messageOf(part.error)}`);
        }
      }
      if (failed || signal.aborted || requests.length === 0) break;
      // The agent goes on where it stopped, with what the person says.
      messages.push(...(await stream.response).messages);
      /** @type {import('ai6').ToolApprovalResponse[]} */
      const answers = [];
      for (const { approvalId, toolCall } of requests) {
        const { reason } = await approval.judge(Object(toolCall.input), toolCall);
        answers.push({ type: 'tool-approval-response', approvalId, ...(await askPerson(transcript, reason, signal)) });
      }
      messages.push({ role: 'tool', content: answers });
    }
  } catch (error) {
    failed = true;
    if (!signal.aborted) transcript.problem(`The agent failed: ${messageOf(error)}`);
  }
  // The stream ends at once when it is aborted; the command that ran then takes its leave.
  for (const [id, result] of await commands.settled(WIND_DOWN_MS)) transcript.end(id, result);
  await registry.close();
  if (finishReason === 'tool-calls' && !signal.aborted)
    transcript.problem(`The agent was not done after ${MAX_STEPS} steps.`);
  return { finished: !failed && !signal.aborted && finishReason === 'stop' };
}

/** The commands of a run, as the tool's hooks tell of them. */
class Commands {
  /** @type {Set<string>} */
  #running = new Set();
  /** @type {Map<string, import('agent-bash/ai').BashToolOutput>} */
  #results = new Map();
  #wake = () => {};

  /** @param {string} id @returns {void} */
  began(id) {
    this.#running.add(id);
  }

  /** @param {string} id @param {import('agent-bash/ai').BashToolOutput} result @returns {void} */
  ended(id, result) {
    this.#running.delete(id);
    this.#results.set(id, result);
    if (this.#running.size === 0) this.#wake();
  }

  /** All results, when no command runs any more or the time is over. @param {number} withinMs */
  async settled(withinMs) {
    if (this.#running.size > 0)
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    return this.#results;
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
