import type { ObservedCall, ObservedExit, ObservedReturn } from 'agent-bash';
import type { Telemetry } from './telemetry.ts';
import type { AttributeValue, SpanLike } from './types.ts';

// Names are those of the semantic conventions for generative AI and for processes, all with the status "development".

/** The name of each span: `execute_tool {gen_ai.tool.name}`. */
const SPAN_NAME = 'execute_tool bash';

/** The attributes that each span and each measurement has. */
const TOOL = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'bash',
  'gen_ai.tool.type': 'function',
} as const;

/** `SpanKind.INTERNAL`. */
const INTERNAL = 0;
/** `SpanStatusCode.ERROR`. */
const ERROR = 2;
/** The error of a run whose error has no code. */
const OTHER = '_OTHER';

/** The limit that a run has reached, if it has. */
interface Reached {
  limit?: ObservedExit['limit'] | undefined;
  waitedFor?: ObservedExit['waitedFor'] | undefined;
}

type Attributes = Record<string, AttributeValue | null | undefined>;

/** One run from its call to its end: its span and its measurement. */
export class TracedRun {
  readonly #telemetry: Telemetry;
  readonly #agent: string | undefined;
  readonly #began = performance.now();
  readonly #span: SpanLike | undefined;
  readonly #context: never | undefined;

  /** Starts the span. Its parent is the active one, because the call is being made now. */
  constructor({ actor, target }: ObservedCall, telemetry: Telemetry) {
    this.#telemetry = telemetry;
    this.#agent = actor?.agent;
    const attributes = known({
      ...TOOL,
      'gen_ai.tool.call.id': actor?.toolCallId,
      'gen_ai.agent.name': actor?.agent,
      'gen_ai.conversation.id': actor?.session,
      'agent_bash.target': target,
    });
    this.#span = telemetry.tracer()?.startSpan(SPAN_NAME, { kind: INTERNAL, attributes });
    this.#context = telemetry.context(this.#span);
  }

  /** Sets the text of the command, which `redact` frees of its secrets. */
  command(text: string, redact: (text: string) => string): void {
    if (!this.#span?.isRecording()) return;
    const command = redact(text);
    this.#set({ 'process.command_line': command, 'gen_ai.tool.call.arguments': JSON.stringify({ command }) });
  }

  /** Returns the variables by which the command continues the trace; none without a valid span. */
  variables(): Record<string, string | null> {
    const { traceId = '', spanId = '', traceFlags = 0, traceState } = this.#span?.spanContext() ?? {};
    if (!/^(?!0+$)[0-9a-f]{32}$/.test(traceId) || !/^(?!0+$)[0-9a-f]{16}$/.test(spanId)) return {};
    const flags = traceFlags.toString(16).padStart(2, '0');
    // Without a state of its own, the trace goes on without that of another one, which the host may have inherited.
    return { TRACEPARENT: `00-${traceId}-${spanId}-${flags}`, TRACESTATE: traceState?.serialize() || null };
  }

  /** The run goes on as a task. */
  moved(exit: { pid: number } & Reached): void {
    this.#set({ 'process.pid': exit.pid, ...limitAttributes(exit) });
  }

  /** The run has ended. */
  exited(exit: ObservedExit): void {
    this.#set({
      'process.pid': exit.pid,
      'process.exit.code': exit.exitCode,
      'agent_bash.run.id': exit.runId || null,
      'agent_bash.secrets': secretsOf(exit),
      ...limitAttributes(exit),
    });
    this.#end(errorOf(exit));
  }

  /** The call has settled without a run. */
  failed({ status, code }: ObservedReturn): void {
    this.#end(status === 'aborted' || code === 'ABORT_ERR' ? 'aborted' : (code ?? OTHER));
  }

  /** The run goes on, and is followed no more. Its duration is not known. */
  left(): void {
    this.#span?.end();
  }

  #end(error: string | null): void {
    const seconds = (performance.now() - this.#began) / 1000;
    if (error !== null) {
      this.#set({ 'error.type': error });
      // Without a description: messages of errors quote the command.
      this.#span?.setStatus({ code: ERROR });
    }
    this.#span?.end();
    const attributes = known({ ...TOOL, 'gen_ai.agent.name': this.#agent, 'error.type': error });
    this.#telemetry.histogram()?.record(seconds, attributes, this.#context);
  }

  #set(attributes: Attributes): void {
    this.#span?.setAttributes(known(attributes));
  }
}

/** The limit that a run has reached. Only the first words of its note: the others quote the command and its output. */
function limitAttributes({ limit, waitedFor }: Reached): Attributes {
  return { 'agent_bash.limit': limit, 'agent_bash.waited_for': waitedFor?.split(/[:;]/)[0] };
}

/** Returns the names of the secrets that a run has used; `null` if it has used none. */
function secretsOf({ confinement }: ObservedExit): string[] | null {
  const names = new Set(confinement?.secrets.map(({ name }) => name));
  return names.size === 0 ? null : [...names];
}

/** Returns the attributes that have a value. */
function known(attributes: Attributes): Record<string, AttributeValue> {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(pairs) as Record<string, AttributeValue>;
}

/** Returns the error of a run; `null` if the run has ended by itself, whatever its exit code. */
function errorOf({ status, exitCode, signal }: ObservedExit): string | null {
  switch (status) {
    case 'timed-out':
      return 'timeout';
    case 'signaled':
      return signal ?? OTHER;
    case 'killed':
      // A task that has reached its limit has this code.
      return exitCode === 124 ? 'timeout' : (signal ?? status);
    case 'aborted':
    case 'lost':
      return status;
    default:
      return null;
  }
}
