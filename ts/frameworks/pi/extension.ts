import { resolve } from 'node:path';
import { innerOptions, undoOption } from '../../tool/options.ts';
import { allEnded } from '../shared/all-ended.ts';
import { Commands } from '../shared/commands.ts';
import { inFramework, inOurWords, type WithTimeout } from '../shared/fields.ts';
import { oneText } from '../shared/outcome.ts';
import { TaskEnds } from '../shared/task-ends.ts';
import { ToolCalls } from '../shared/tool-calls.ts';
import type { OnAsk, Run, Tool } from '../shared/types.ts';
import { operationsOf, type PiOperations } from './operations.ts';
import { OUTPUT_SCHEMA, type PiResult, piResult } from './schema.ts';

/** The unit of pi's limit, in ms. */
const SECOND_MS = 1_000;

/** The part of pi's `ExtensionAPI` that is used. */
export interface PiApi {
  // biome-ignore lint/suspicious/noExplicitAny: each event has a type of its own
  on(event: any, handler: (event: any, context: any) => any): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: a plain JSON Schema stands for one of TypeBox
  registerTool(tool: any): void;
  sendMessage(
    message: { customType: string; content: string; display: boolean; details?: unknown },
    options: { triggerTurn: boolean; deliverAs: 'followUp' },
  ): void;
}

/** The part of pi's `ExtensionContext` that is used. */
interface Context {
  cwd: string;
  signal?: AbortSignal | undefined;
  hasUI?: boolean;
  ui?: { confirm(title: string, message: string, options?: { signal?: AbortSignal }): Promise<boolean> };
}

interface ToolCall {
  toolName: string;
  toolCallId: string;
  input: WithTimeout;
}

/**
 * Makes an extension of pi that replaces its tool `bash`, and runs the commands that a person types (`!command`). A
 * command that must be asked about goes to `approval.onAsk`, else to pi's own dialog, and is blocked where pi has none.
 * A person's own command is not asked about, but what safety or `approval.deny` denies does not run. The end of a
 * background process is a message that gives the model a turn. With the session all its processes end.
 *
 * Without `cwd` the directory is that of pi's session. Throws `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example export default piExtension({ confine: 'workspace' });
 */
export function piExtension(options: Tool = {}): (pi: PiApi) => void {
  ToolCalls.check('piExtension', options);
  return (pi) => new Extension(pi, options).register();
}

/** What the commands of one session run with. */
class Shell {
  readonly calls: ToolCalls;
  readonly operations: PiOperations;
  readonly folder: string;
  readonly #commands: Commands;

  /** `cwd` is the directory where the options have none. */
  constructor(options: Tool, cwd = '.') {
    this.folder = resolve(options.cwd ?? cwd);
    const here = options.sandbox === undefined && { cwd: this.folder, merge: options.merge ?? true };
    this.calls = new ToolCalls('piExtension', { ...options, ...here });
    this.#commands = new Commands('piExtension', { ...ofPerson(options), cwd: this.folder });
    const { exec } = operationsOf(this.#commands);
    // pi names the directory of its session.
    this.operations = { exec: (command, _cwd, call) => exec(command, this.folder, call) };
  }

  async end(): Promise<void> {
    await allEnded([this.calls.close(), this.#commands.close()]);
  }
}

/** Returns the options of the commands that a person types: they have no limit of a mode, and run to their end. */
function ofPerson({ approval, undo, onAfterRun, draft, ...options }: Tool): Run {
  const known = innerOptions().bash;
  const { mode, onTimeout, ...shared } = Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(known, name)),
  );
  return {
    ...shared,
    undo: undoOption(undo),
    // What the tool opens itself is for the model.
    draft: typeof draft === 'boolean' ? undefined : draft,
    onAfterRun:
      onAfterRun &&
      (async (run) => {
        await onAfterRun(run);
      }),
    // Whoever types a command has said yes to it.
    approval: approval && { deny: approval.deny, onAsk: () => true },
  };
}

/** One load of the extension. */
class Extension {
  readonly #pi: PiApi;
  readonly #options: Tool;
  #shell: Shell;
  #ends: TaskEnds;

  constructor(pi: PiApi, options: Tool) {
    this.#pi = pi;
    this.#options = options;
    this.#shell = new Shell(options);
    this.#ends = this.#announce(this.#shell);
  }

  register(): void {
    this.#registerTool();
    this.#pi.on('session_start', (_event: unknown, context: Context) => void this.#in(context));
    this.#pi.on('tool_call', (event: ToolCall, context: Context) => this.#decide(event, context));
    this.#pi.on('user_bash', (_event: unknown, context: Context) => ({ operations: this.#in(context).operations }));
    // Other handlers may have blocked a call that was approved here.
    this.#pi.on('agent_end', () => this.#shell.calls.forgetApproved());
    this.#pi.on('session_shutdown', async () => {
      this.#ends.stop();
      await this.#shell.end();
    });
  }

  /** Returns what runs commands in the directory of the session. It is known from the first event on. */
  #in({ cwd }: Context): Shell {
    if (this.#options.cwd === undefined && resolve(cwd) !== this.#shell.folder) {
      this.#ends.stop();
      // Nobody is there to be told of what cannot be ended.
      this.#shell.end().catch(() => {});
      this.#shell = new Shell(this.#options, cwd);
      this.#ends = this.#announce(this.#shell);
      this.#registerTool();
    }
    return this.#shell;
  }

  /** Gives the model a turn at the end of each task. */
  #announce({ calls: { registry } }: Shell): TaskEnds {
    const how = { deliverAs: 'followUp', triggerTurn: true } as const;
    return new TaskEnds(registry, (content, task) => {
      this.#pi.sendMessage({ customType: 'agent-bash', content, display: true, details: { task } }, how);
    });
  }

  #registerTool(): void {
    // Each command starts in the directory of the session.
    const { description, fields: properties } = inFramework(this.#shell.calls, 'seconds');
    this.#pi.registerTool({
      name: 'bash',
      label: 'bash',
      description,
      promptSnippet: 'Execute bash commands (ls, grep, find, etc.)',
      parameters: { type: 'object', properties },
      outputSchema: OUTPUT_SCHEMA,
      execute: (...call: Parameters<Extension['execute']>) => this.execute(...call),
    });
  }

  async #decide({ toolName, toolCallId, input }: ToolCall, context: Context) {
    const { calls } = this.#in(context);
    if (toolName !== 'bash' || input.command == null) return undefined;
    const asked = { toolCallId, signal: context.signal };
    const verdict = await calls.decide(inOurWords(input, SECOND_MS), asked, this.#ask(context));
    return verdict.runs ? undefined : { block: true, reason: verdict.reason };
  }

  #ask({ hasUI, ui }: Context): OnAsk | undefined {
    const { onAsk } = this.#options.approval ?? {};
    if (onAsk !== undefined || !hasUI || ui === undefined) return onAsk;
    return ({ reason }, { signal }) => ui.confirm('Run this command?', reason, { signal });
  }

  async execute(
    toolCallId: string,
    given: WithTimeout,
    signal: AbortSignal | undefined,
    onUpdate: ((update: PiResult) => void) | undefined,
    context: Context,
  ): Promise<PiResult> {
    const input = inOurWords(given, SECOND_MS);
    const answering = this.#in(context).calls.answer(input, {
      toolCallId,
      signal,
      ask: this.#ask(context),
      onSnapshot: (live) => onUpdate?.({ content: [{ type: 'text', text: oneText(live) }], details: {} }),
    });
    const { output, text, failed } = await (input.command == null ? this.#ends.during(answering) : answering);
    if (failed) throw new Error(text);
    return piResult(output, text);
  }
}
