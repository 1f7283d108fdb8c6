import { randomUUID } from 'node:crypto';
import { BackgroundRegistry, BashError, type BashSnapshot } from 'agent-bash';
import { createBashTool } from '../../ai/bash-tool.ts';
import type { BashApprovalJudgement } from '../../ai/types.ts';
import { failureOf } from '../../core/listener.ts';
import type { OptionTable } from '../../core/option-names.ts';
import { OWNER, type Owned } from '../../core/world.ts';
import { checkToolOptions } from '../../tool/options.ts';
import { ofOneConversation, toolFolder } from '../../tool/setup.ts';
import type { BashTool, BashToolInput, BashToolOutput } from '../../tool/types.ts';
import { allEnded } from './all-ended.ts';
import { Approver, type Asked, OF_APPROVALS, type Verdict } from './approver.ts';
import { Lifetime } from './lifetime.ts';
import type { OnAsk, Tool } from './types.ts';

/** One call of a framework. */
export interface Call extends Asked {
  /** The framework's own question. */
  ask?: OnAsk | undefined;
  /** A returned promise holds the next snapshot back. */
  onSnapshot?: ((snapshot: Pick<BashSnapshot, 'stdout' | 'stderr'>) => void | Promise<void>) | undefined;
}

/** The end of a call. */
export interface Answered {
  output: BashToolOutput;
  /** The text for the model. */
  text: string;
  /** Whether a non-zero exit code is an error, with `errorOnFailure`. */
  failed: boolean;
}

/** Answers the calls of one adapter, for frameworks that are given the tool. */
export class ToolCalls {
  readonly tool: BashTool;
  readonly registry: BackgroundRegistry;
  readonly #approver: Approver;
  /** The commands that a person has approved ahead of their calls, by the ids of these. */
  readonly #approved = new Map<string, string>();
  readonly #lifetime: Lifetime;
  readonly #ownRegistry: BackgroundRegistry | null;

  /**
   * Throws `ERR_BASH_INVALID_ARG` for invalid options. `more` are the adapter's own options, which are not among
   * `given`, for the hint at a misspelt one. Without `registry` the adapter has one of its own, and commands still end
   * at their limit.
   */
  constructor(entry: string, given: Tool, more: OptionTable = {}) {
    ToolCalls.check(entry, given, more);
    const { approval, ...rest } = given;
    const options = ofOneConversation(rest);
    const sharesTasks = options.registry !== undefined;
    const { affinity, target = options.session?.options.target } = options;
    this.#lifetime = new Lifetime(toolFolder(options), { graceMs: options.graceMs, target, affinity }, sharesTasks);
    this.#ownRegistry = options.registry === undefined ? new BackgroundRegistry({ target, affinity }) : null;
    this.registry = options.registry ?? (this.#ownRegistry as BackgroundRegistry);
    const owned: Owned = { [OWNER]: this.#lifetime.owner };
    this.tool = createBashTool({
      ...options,
      ...owned,
      registry: this.registry,
      env: { ...options.env, ...this.#lifetime.mark },
      ...(this.#ownRegistry && { onTimeout: options.onTimeout ?? 'kill' }),
    });
    this.#approver = new Approver(this.tool, approval);
  }

  /** Throws what the constructor throws, for adapters that make the tool later. */
  static check(entry: string, given: Tool, more: OptionTable = {}): void {
    checkToolOptions(entry, given, { approval: { fields: OF_APPROVALS }, ...more });
    new Approver(createBashTool(), given.approval);
  }

  /** The JSON Schema of the tool's input, in which no field is required: strict modes alone send them all. */
  get schema(): Record<string, unknown> {
    const { inputSchema } = this.tool;
    const { required, additionalProperties, ...json } = inputSchema['~standard'].jsonSchema.input({
      target: 'draft-07',
    });
    return json;
  }

  /** Judges a command without asking anyone. */
  judge(input: BashToolInput, call: Asked): Promise<BashApprovalJudgement> {
    return this.#approver.judge(input, call);
  }

  /**
   * Decides about a command ahead of its call, for frameworks that ask then. What a person approves is not asked about
   * again at the call, unless its command is another one by then, or has another place or more access.
   */
  async decide(input: BashToolInput, call: Asked, ask?: OnAsk): Promise<Verdict> {
    const verdict = await this.#approver.decide(input, call, ask);
    if (verdict.runs && verdict.approved && mayAsk(input)) this.#approved.set(call.toolCallId, subjectOf(input));
    return verdict;
  }

  /** Forgets what was approved for calls that never came. */
  forgetApproved(): void {
    this.#approved.clear();
  }

  /**
   * Answers a call, once rules and people have let it. Rejects with a `BashError` if nothing ran: that is an error in
   * each framework.
   */
  async answer(input: BashToolInput, { onSnapshot, ask, ...asked }: Call): Promise<Answered> {
    // The decision of an approval is found by the id of its call.
    const id = asked.toolCallId || randomUUID();
    const isApproved = this.#approved.get(asked.toolCallId) === subjectOf(input);
    this.#approved.delete(asked.toolCallId);
    const work = async (abortSignal: AbortSignal): Promise<BashToolOutput> => {
      if (mayAsk(input)) {
        const person = isApproved ? () => true : ask;
        const verdict = await this.#approver.decide(input, { ...asked, id, signal: abortSignal }, person);
        if (!verdict.runs && !abortSignal.aborted) throw new BashError('ERR_BASH_BLOCKED', verdict.reason);
      }
      let last: BashToolOutput | undefined;
      const call = { toolCallId: id, abortSignal, experimental_context: asked.context };
      for await (const output of this.tool.execute(input, call)) {
        if ('status' in output && output.status === 'running') await failureOf(() => onSnapshot?.(output));
        else last = output;
      }
      // The tool yields its output last, and never throws.
      return last as BashToolOutput;
    };
    const output = await this.#lifetime.during([asked.signal], work, survivorsIn);
    const { type, value } = this.tool.toModelOutput({ output, input });
    if ('error' in output) {
      throw new BashError(output.code as BashError['code'], value, undefined, output.findings, output.missing);
    }
    return { output, text: value, failed: type === 'error-text' };
  }

  /** Ends all that runs, the tasks of the adapter's own registry, and all that commands have left running. */
  async close(): Promise<void> {
    await allEnded([this.#lifetime.end(), this.#ownRegistry?.close() ?? Promise.resolve()]);
  }
}

/** Returns the part of an input that a person approves, as a key. */
function subjectOf({ command, cwd, mode, access, draft_commit }: BashToolInput): string {
  return JSON.stringify([command ?? null, cwd ?? null, mode ?? null, access ?? null, draft_commit ?? null]);
}

/** Returns whether a person may have to be asked about an input. */
function mayAsk({ command, draft_commit }: BashToolInput): boolean {
  return command != null || draft_commit === true;
}

function survivorsIn(output: BashToolOutput) {
  return 'survivors' in output ? output.survivors : [];
}
