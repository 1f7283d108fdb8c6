import { closeToolDrafts } from './call/draft.ts';
import { interceptRules } from './call/intercept.ts';
import { rememberSignal } from './call/interruption.ts';
import { executorOf } from './executor.ts';
import { inContextOfCall } from './in-context.ts';
import { checkToolOptions } from './options.ts';
import { contextSchema, isRecord, type Read, reader, standardSchema } from './schema.ts';
import { rememberSetup, setupFor, type ToolSetup, withPlace } from './setup.ts';
import type {
  BashInputIssue,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolSnapshot,
  ProviderSchema,
  ProviderTool,
} from './types.ts';

/**
 * Runs one command to its end and yields each snapshot in the tool's form. The command ends when the iteration does.
 */
export async function* relay<T>(
  running: AsyncGenerator<BashToolSnapshot, BashToolOutput, undefined>,
  show: (snapshot: BashToolSnapshot) => T,
): AsyncGenerator<T, BashToolOutput, undefined> {
  let step = await running.next();
  try {
    for (; !step.done; step = await running.next()) yield show(step.value);
    return step.value;
  } finally {
    if (!step.done) await running.return(undefined as never);
  }
}

/** Words that mean the same with and without quotes. The first word must also not contain `=`. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
const NAME = /^[A-Za-z_]\w*$/;

/** Words without special characters that bash treats as grammar at the start of a command. */
const RESERVED = new Set(
  'if then else elif fi do done case esac while until for in function time select coproc'.split(' '),
);

/**
 * Returns a program and its arguments as a bash command in which each word reaches the program unchanged. The words are
 * quoted into the command, not passed beside it, so that safety, approvals, logs and hooks see the whole command.
 * Variables precede the command, as a person would type them.
 */
export function commandOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const [program = '', ...rest] = argv;
  const first = RESERVED.has(program) || program.includes('=') ? quoted(program) : word(program);
  const given = Object.entries(env);
  // bash cannot assign to every name. Other names go through the program `env`.
  const before = given.every(([name]) => NAME.test(name))
    ? given.map(([name, value]) => `${name}=${word(value)}`)
    : ['env', '--', ...given.map(([name, value]) => quoted(`${name}=${value}`))];
  return [...before, first, ...rest.map(word)].join(' ');
}

function word(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}

/** Returns a word of a bash command that stands for this text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// The inputs of the tools that providers define, as models send them. Approvals read them, too, so this file lies below
// the adapters.

/**
 * The model's input: a command, a restart, or a restart followed by a command. `null` and unknown fields count as left
 * out.
 */
export interface AnthropicBashInput {
  /** The command, byte for byte. */
  command?: string | null | undefined;
  /** Resets the session, if the tool has one. */
  restart?: boolean | null | undefined;
}

/** Commands for a shell, to run one after another. */
export interface ShellAction {
  commands: string[];
  /** The time limit of each command in ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
  timeoutMs?: number | undefined;
  /** Limit on each command's output, both streams together, in UTF-16 units. Default: the tool's `truncate` alone. */
  maxOutputLength?: number | undefined;
}

/**
 * The model's input to `openai.shell`. The schema also accepts the keys of the wire (`timeout_ms`,
 * `max_output_length`), and `null` counts as left out.
 */
export interface ShellInput {
  action: ShellAction;
}

/**
 * The model's input to `openai.local_shell`. The schema also accepts the keys of the wire (`timeout_ms`,
 * `working_directory`), and `null` counts as left out.
 */
export interface LocalShellInput {
  action: {
    type: 'exec';
    /** A program and its arguments. No shell reads them unless the program is a shell. */
    command: string[];
    /** In ms, clamped to 1,000 … 3,600,000 with a note. Default: the tool's. */
    timeoutMs?: number | undefined;
    /** The user to run as. Only the user of this process is accepted; for any other, nothing runs. */
    user?: string | undefined;
    /** The directory to run in, resolved against the tool's. */
    workingDirectory?: string | undefined;
    /** Variables for this command. */
    env?: Record<string, string> | undefined;
  };
}

/**
 * Returns the schema of the inputs that `read` accepts. The JSON Schema is for people and user interfaces, because the
 * provider's API has its own.
 */
export function providerSchema<T>(
  read: (value: unknown) => Read<T>,
  json: () => Record<string, unknown>,
): ProviderSchema<T> {
  return standardSchema(read, json);
}

/** Returns the JSON Schema of an input that holds one action. */
export function actionSchema(required: string[], properties: Record<string, unknown>): Record<string, unknown> {
  const action = { type: 'object', properties, required, additionalProperties: false };
  return { type: 'object', properties: { action }, required: ['action'], additionalProperties: false };
}

/** Returns the issues of an input as one sentence. */
export function sentence(issues: readonly BashInputIssue[]): string {
  return issues.map(({ message }) => message).join('; ');
}

/**
 * Returns a tool's options with its directory resolved now. Throws for invalid options here, as `createBashTool` does,
 * and not at the first call.
 */
export function checkedOptions(entry: string, options: BashToolOptions): ToolSetup {
  checkToolOptions(entry, options);
  const setup = setupFor(options);
  interceptRules(options);
  executorOf(withPlace(options, setup.folder));
  return setup;
}

/** A provider's tool, apart from its options. */
interface Kind<Input, Output> {
  id: ProviderTool['id'];
  inputSchema: ProviderSchema<Input>;
  /** Answers one call. The input is unchecked, because not every caller applies the schema. */
  run: (setup: ToolSetup, input: unknown, call: BashToolExecutionOptions) => AsyncGenerator<Output, void, undefined>;
}

/** Returns a provider's tool in the form that both majors accept. Approvals recognize it by its `execute`. */
export function providerTool<Input, Output>(
  entry: string,
  options: BashToolOptions,
  { id, inputSchema, run }: Kind<Input, Output>,
): ProviderTool<Input, Output> {
  const setup = checkedOptions(entry, options);
  const tool: ProviderTool<Input, Output> = {
    type: 'provider',
    isProviderExecuted: false,
    id,
    args: {},
    inputSchema,
    contextSchema,
    onInputAvailable: rememberSignal,
    execute: (input, call = { toolCallId: '' }) => inContextOfCall(run(setup, input, call)),
    close: () => closeToolDrafts(setup),
    [Symbol.asyncDispose]: () => closeToolDrafts(setup),
  };
  return rememberSetup(tool, setup);
}

/** Reads the fields of an action under either of their names. `null` counts as left out. */
class Fields {
  readonly issues: BashInputIssue[] = [];
  readonly #action: Record<string, unknown>;

  constructor(input: unknown) {
    const action = isRecord(input) ? input.action : undefined;
    if (!isRecord(action)) this.#wrong('it must be an object');
    this.#action = isRecord(action) ? action : {};
  }

  /** Reads a required list of strings. */
  strings(name: string): string[] {
    const given = this.#action[name];
    // The copy is checked, because a getter may give something else each time.
    const copy: unknown[] | null = Array.isArray(given) ? [...given] : null;
    if (copy?.every(isString)) return copy;
    this.#wrong(`${name} must be an array of strings`);
    return [];
  }

  /** Reads an optional field under its own name or its name on the wire. `take` returns `null` for a wrong value. */
  optional<T>(name: string, wire: string, take: (given: unknown) => T | null, what: string): { [name: string]: T } {
    const given = this.#action[name] ?? this.#action[wire];
    if (given === undefined || given === null) return {};
    const taken = take(given);
    if (taken !== null) return { [name]: taken };
    this.#wrong(`${wire} must be ${what}`);
    return {};
  }

  /** Accepts one value for a field, or its absence. */
  only(name: string, value: string): void {
    if ((this.#action[name] ?? value) !== value) this.#wrong(`${name} must be "${value}"`);
  }

  #wrong(message: string): void {
    if (this.issues.length === 0) this.issues.push({ message: `the action: ${message}`, path: ['action'] });
  }
}

function shellOf(input: unknown): Read<ShellInput> {
  const fields = new Fields(input);
  const action: ShellAction = {
    commands: fields.strings('commands'),
    ...fields.optional('timeoutMs', 'timeout_ms', numberIn, 'a number of milliseconds'),
    ...fields.optional('maxOutputLength', 'max_output_length', numberIn, 'a number of characters'),
  };
  return fields.issues.length > 0 ? { issues: fields.issues } : { value: { action } };
}

function localShellOf(input: unknown): Read<LocalShellInput> {
  const fields = new Fields(input);
  fields.only('type', 'exec');
  const action: LocalShellInput['action'] = {
    type: 'exec',
    command: fields.strings('command'),
    ...fields.optional('timeoutMs', 'timeout_ms', numberIn, 'a number of milliseconds'),
    ...fields.optional('user', 'user', stringIn, 'a string'),
    ...fields.optional('workingDirectory', 'working_directory', stringIn, 'a string'),
    ...fields.optional('env', 'env', envIn, 'an object of strings'),
  };
  return fields.issues.length > 0 ? { issues: fields.issues } : { value: { action } };
}

/** Reads the input of `openai.shell`, with one name per key and without empty fields. */
export const readShell = reader(shellOf);

/** Reads the input of `openai.local_shell`, likewise. */
export const readLocalShell = reader(localShellOf);

/** Returns the commands of an action as inputs of the bash tool, for running and for judging. */
export function shellCommands({ action: { commands, timeoutMs } }: ShellInput): BashToolInput[] {
  return commands.map((command) => ({ command, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) }));
}

/** Returns the one command of `openai.local_shell`, likewise. */
export function localShellCommand({ action }: LocalShellInput): BashToolInput {
  const { command, env, timeoutMs, workingDirectory } = action;
  return {
    command: commandOf(command, env),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(workingDirectory !== undefined && { cwd: workingDirectory }),
  };
}

/** Returns the commands of an input of either tool, and none of any other input. Throws if a getter of it does. */
export function commandsOfAction(input: unknown): BashToolInput[] {
  const shell = shellOf(input);
  if ('value' in shell) return shellCommands(shell.value);
  const local = localShellOf(input);
  return 'value' in local ? [localShellCommand(local.value)] : [];
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function stringIn(value: unknown): string | null {
  return isString(value) ? value : null;
}

function numberIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function envIn(value: unknown): Record<string, string> | null {
  if (!isRecord(value)) return null;
  const entries = Object.entries(value);
  const fit = entries.every(([name, text]) => isString(text) && /^[^=\0]+$/.test(name));
  return fit ? (Object.fromEntries(entries) as Record<string, string>) : null;
}
