import {
  type ApprovalOptions,
  type AskPerson,
  type BashToolOptions,
  createBashTool,
  createToolApproval,
} from 'agent-bash/ai';
import { folder } from '../../support/index.ts';
import { MAJORS, type PromptMessage, type Step } from '../fixtures/majors.ts';

/** A command that has to ask. In an empty directory it fails, and changes nothing. */
export const ASKS = 'git clean -fd';
export const DENIED = 'git push --force origin main';

/** How a host of each major puts an approval to a tool. */
export type Host = [name: string, major: (typeof MAJORS)[number][1] | undefined, place: Place];
type Place = 'needsApproval' | 'toolApproval';

export const HOSTS: Host[] = [
  ['ai 6', MAJORS[0]?.[1], 'needsApproval'],
  ['ai 7', MAJORS[1]?.[1], 'toolApproval'],
  ['ai 7, asked by the tool', MAJORS[1]?.[1], 'needsApproval'],
];

export interface Wanted {
  commands?: string[];
  tool?: BashToolOptions;
  approval?: ApprovalOptions;
  abortSignal?: AbortSignal;
  streaming?: boolean;
}

/** A conversation with an agent whose tool refuses what a person would be asked about, unless one has approved it. */
export function conversation(
  [, major, place]: Host,
  { commands = [ASKS], tool: options, approval: asks, abortSignal, streaming = false }: Wanted,
) {
  const { ai, script } = major as NonNullable<typeof major>;
  const steps: Step[] = [...commands.map((command) => ({ call: { command } })), { say: 'done' }];
  const { model, requests } = script(steps);
  const tool = createBashTool({ cwd: folder(), safety: { onAsk: 'deny' }, actor: { agent: 'a' }, ...options });
  const approval = createToolApproval({ tool, ...asks });
  const settings = {
    model,
    tools: { bash: place === 'needsApproval' ? { ...tool, needsApproval: approval.needsApproval } : tool },
    ...(place === 'toolApproval' && { toolApproval: { bash: approval } }),
    stopWhen: ai.stepCountIs(5),
    ...(abortSignal && { abortSignal }),
  };
  const messages: unknown[] = [{ role: 'user', content: 'go on' }];
  let requested: { approvalId: string }[] = [];
  const go = async () => {
    const call = { ...settings, messages: messages as never };
    let parts: { type: string; isAutomatic?: boolean }[] = [];
    if (streaming) {
      const stream = ai.streamText(call as never);
      for await (const part of stream.fullStream) parts.push(part);
      messages.push(...((await stream.responseMessages) ?? (await stream.response).messages));
    } else {
      const generated = await ai.generateText(call as never);
      parts = generated.content;
      messages.push(...(generated.responseMessages ?? generated.response.messages));
    }
    requested = parts.filter(
      (part) => part.type === 'tool-approval-request' && !part.isAutomatic,
    ) as unknown as typeof requested;
  };
  /** Answers in the SDK's own way, and goes on. */
  const answer = async (approved: boolean) => {
    const content = requested.map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved }));
    messages.push({ role: 'tool', content });
    await go();
  };
  /** All that the model has read of its calls. */
  const read = () => {
    const prompted: PromptMessage[] = requests().at(-1)?.prompt ?? [];
    return JSON.stringify(prompted.filter(({ role }) => role === 'tool'));
  };
  return { go, answer, read, asked: () => requested };
}

/** A person whom the host asks: the questions, and the answers that the test gives. */
export function person() {
  const questions: Parameters<AskPerson>[0][] = [];
  const signals: AbortSignal[] = [];
  let settle: (answer: { approved: boolean; reason?: string }) => void = () => {};
  const ask: AskPerson = (question, { signal }) => {
    questions.push(question);
    signals.push(signal);
    return new Promise((resolve) => {
      settle = resolve;
    });
  };
  return { ask, questions, signals, answer: (answer: Parameters<typeof settle>[0]) => settle(answer) };
}
