import { BackgroundRegistry } from 'agent-bash';
import { BASH_INSTRUCTIONS, backgroundNotices, createBashTool, createToolApproval } from 'agent-bash/ai';
import { stepCountIs, ToolLoopAgent } from 'ai6';
import { askBesidePage, askPerson } from './ask.mjs';
import { Saved } from './saved.mjs';

const INSTRUCTIONS = `You are a careful coding agent. You work in one folder, with a bash tool and nothing else.
Say in a sentence what you are about to do, do it, and read the result before you go on.
Run the tests before and after a change. Commit only what belongs to the task. When you cannot do something, say so.

${BASH_INSTRUCTIONS}`;

/** Maximum number of steps: enough for a small task, and a bound for a model that goes in circles. */
const MAX_STEPS = 60;
/** Time that the running command may take to exit after an interruption. */
const WIND_DOWN_MS = 4_000;

/**
 * @typedef {object} Run
 * @property {import('ai6').LanguageModel} model
 * @property {string} task
 * @property {string} directory Working directory of its commands.
 * @property {import('agent-bash').Target | undefined} target Where its commands run. `undefined`: on this machine.
 * @property {Record<string, string | null>} env Variables for its commands.
 * @property {string | null} store Directory that keeps what its commands change, or `null` for the user's own.
 * @property {boolean} confined Whether its commands change only that directory, reach no host and read no secrets.
 * @property {boolean} ui Whether a person is also asked on the page, for each commit, too.
 * @property {import('./transcript.mjs').Transcript} transcript
 * @property {AbortSignal} signal Terminates the running command and the agent.
 */

/**
 * Runs the agent until it stops.
 * @param {Run} run
 * @returns {Promise<{ finished: boolean, saved: Saved }>} Whether the agent stopped by itself and without an error, and
 * the tokens that smaller outputs have saved.
 */
export async function runAgent({ model, task, directory, target, env, store, confined, ui, transcript, signal }) {
  const commands = new Commands();
  // A registry without a directory terminates its tasks with this process, even if that is killed.
  const registry = new BackgroundRegistry({ target });
  const asks = (/** @type {import('agent-bash/ai').AccessRequest} */ request) =>
    askForAccess(request, transcript, signal);
  /** @type {import('agent-bash/ai').AskPerson} */
  const person = ({ reason }, { signal }) => askBesidePage(transcript, reason, signal);
  const people = ui ? { page: true, ask: { rules: ['git commit:*'], person } } : {};
  const { agent, approval } = createAgent({
    model,
    directory,
    target,
    env,
    store,
    confined,
    registry,
    commands,
    asks,
    people,
  });

  let failed = false;
  let finishReason = '';
  /** @type {import('ai6').ModelMessage[]} */
  const messages = [{ role: 'user', content: task }];
  try {
    for (;;) {
      /** @type {Request[]} */
      const requests = [];
      const stream = await agent.stream({ messages, abortSignal: signal });
      for await (const part of stream.fullStream) {
        if (part.type === 'tool-approval-request') requests.push(part);
        else if (part.type === 'finish') finishReason = part.finishReason;
        else if (part.type === 'error') {
          failed = true;
          if (!signal.aborted) transcript.problem(`The model failed: ${messageOf(part.error)}`);
        } else show(transcript, part);
      }
      if (failed || signal.aborted || requests.length === 0) break;
      // The agent resumes with the answers of the person.
      messages.push(...(await stream.response).messages);
      messages.push({ role: 'tool', content: await answersTo(requests, approval, transcript, signal) });
    }
  } catch (error) {
    failed = true;
    if (!signal.aborted) transcript.problem(`The agent failed: ${messageOf(error)}`);
  }
  // An aborted stream ends at once, but the running command needs time to exit.
  for (const [id, result] of await commands.settled(WIND_DOWN_MS)) transcript.end(id, result);
  await registry.close();
  if (finishReason === 'tool-calls' && !signal.aborted)
    transcript.problem(`The agent was not done after ${MAX_STEPS} steps.`);
  return { finished: !failed && !signal.aborted && finishReason === 'stop', saved: commands.saved };
}

/**
 * Creates the agent with its bash tool, and the approval of that tool.
 * @param {Pick<Run, 'model' | 'directory' | 'target' | 'env' | 'store' | 'confined'> & Parts} options
 */
function createAgent({ model, directory, target, env, store, confined, registry, commands, asks, people }) {
  const bash = createBashTool({
    cwd: directory,
    target,
    env,
    registry,
    // The changes of a command are known, and the model can take them back.
    undo: { when: 'always', ...(store !== null && { dir: store }) },
    // `agent-bash log --agent coding-agent` reads back what it has run.
    actor: { agent: 'coding-agent' },
    // While nothing has changed, the tests are not run again: what they wrote goes through the next filter.
    reuse: { commands: ['npm test:*'] },
    taps: 'on',
    // The model reads the lines that matter, and recalls others.
    reduce: 'salient',
    ...(confined && { confine: 'workspace', onAccess: asks }),
    perCall: ({ toolCallId }) => ({
      onBeforeRun: () => commands.began(toolCallId),
      onAfterRun: ({ result }) => commands.ended(toolCallId, result),
    }),
  });
  // Effects that the confinement prevents anyway need no answer of a person.
  const approval = createToolApproval({ tool: bash, confined, ...people });
  const agent = new ToolLoopAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: { bash: { ...bash, needsApproval: approval.needsApproval } },
    prepareStep: backgroundNotices(registry),
    stopWhen: stepCountIs(MAX_STEPS),
  });
  return { agent, approval };
}

/**
 * @typedef {object} Parts
 * @property {BackgroundRegistry} registry
 * @property {Commands} commands
 * @property {(request: import('agent-bash/ai').AccessRequest) => Promise<boolean>} asks
 * @property {Pick<import('agent-bash/ai').ApprovalOptions, 'page' | 'ask'>} people Those who are asked beside the SDK.
 */

/**
 * Asks the person whether a command may reach more than its confinement allows.
 * @param {import('agent-bash/ai').AccessRequest} request
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {AbortSignal} signal
 */
async function askForAccess({ command, write, network, reason }, transcript, signal) {
  const wants = [...write.map((path) => `change ${path}`), ...network.map((host) => `reach ${host}`)];
  const why = `  ${command}\n\nwith the right to ${wants.join(', ')}, because: ${reason}`;
  return (await askPerson(transcript, why, signal)).approved;
}

/** @typedef {{ approvalId: string, toolCall: { toolCallId: string, input: unknown } }} Request A call to approve. */

/**
 * @typedef {import('ai6').Tool<import('agent-bash/ai').BashToolInput, import('agent-bash/ai').BashToolOutput>} BashTool
 */

/**
 * Shows a part of the model's stream.
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {import('ai6').TextStreamPart<{ bash: BashTool }>} part
 */
function show(transcript, part) {
  if (part.type === 'text-start') transcript.gap();
  else if (part.type === 'text-delta') transcript.say(part.text);
  else if (part.type === 'tool-call') transcript.begin(part.toolCallId, Object(part.input));
  else if (part.type === 'tool-output-denied')
    transcript.end(part.toolCallId, { error: 'it was not approved', code: '' });
  else if (part.type === 'tool-result' && part.preliminary) transcript.progress(part.toolCallId, Object(part.output));
  else if (part.type === 'tool-result') transcript.end(part.toolCallId, Object(part.output));
  else if (part.type === 'tool-error') transcript.end(part.toolCallId, { error: messageOf(part.error), code: '' });
}

/**
 * Asks the person about each request in turn.
 * @param {Request[]} requests
 * @param {import('agent-bash/ai').ToolApproval} approval
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {AbortSignal} signal
 */
async function answersTo(requests, approval, transcript, signal) {
  /** @type {import('ai6').ToolApprovalResponse[]} */
  const answers = [];
  for (const { approvalId, toolCall } of requests) {
    const { reason } = await approval.judge(Object(toolCall.input), toolCall);
    answers.push({ type: 'tool-approval-response', approvalId, ...(await askPerson(transcript, reason, signal)) });
  }
  return answers;
}

/** The commands of a run, as reported by the tool's hooks. */
class Commands {
  /** @type {Set<string>} */
  #running = new Set();
  /** @type {Map<string, import('agent-bash/ai').BashToolOutput>} */
  #results = new Map();
  #wake = () => {};
  saved = new Saved();

  /** @param {string} id @returns {void} */
  began(id) {
    this.#running.add(id);
  }

  /** @param {string} id @param {import('agent-bash/ai').BashToolOutput} result @returns {void} */
  ended(id, result) {
    this.#running.delete(id);
    this.#results.set(id, result);
    this.saved.add(result);
    if (this.#running.size === 0) this.#wake();
  }

  /** Resolves with all results when no command runs any more, or after the given time. @param {number} withinMs */
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
