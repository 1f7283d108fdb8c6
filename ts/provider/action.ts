import type { BashInputIssue, BashToolInput } from '../ai/types.ts';
import type { LocalShellInput, ShellAction, ShellInput } from '../openai/types.ts';
import { commandOf } from './argv.ts';
import { isRecord, type Read } from './schema.ts';

/** Reads the fields of an action by either of their names; `null` counts as left out. */
class Fields {
  readonly issues: BashInputIssue[] = [];
  readonly #action: Record<string, unknown>;

  constructor(input: unknown) {
    const action = isRecord(input) ? input.action : undefined;
    if (!isRecord(action)) this.#wrong('it must be an object');
    this.#action = isRecord(action) ? action : {};
  }

  /** A required list of strings. */
  strings(name: string): string[] {
    const given = this.#action[name];
    if (isStrings(given)) return [...given];
    this.#wrong(`${name} must be an array of strings`);
    return [];
  }

  /** An optional field under its own name and under that of the wire. */
  optional<T>(name: string, wire: string, fits: (given: unknown) => given is T, what: string): { [name: string]: T } {
    const given = this.#action[name] ?? this.#action[wire];
    if (given === undefined || given === null) return {};
    if (fits(given)) return { [name]: given };
    this.#wrong(`${wire} must be ${what}`);
    return {};
  }

  /** A field that has one value, or is left out. */
  only(name: string, value: string): void {
    if ((this.#action[name] ?? value) !== value) this.#wrong(`${name} must be "${value}"`);
  }

  #wrong(message: string): void {
    if (this.issues.length === 0) this.issues.push({ message: `the action: ${message}`, path: ['action'] });
  }
}

/** The input of `openai.shell`, with one name for each key and without those that say nothing. */
export function readShell(input: unknown): Read<ShellInput> {
  const fields = new Fields(input);
  const action: ShellAction = {
    commands: fields.strings('commands'),
    ...fields.optional('timeoutMs', 'timeout_ms', isNumber, 'a number of milliseconds'),
    ...fields.optional('maxOutputLength', 'max_output_length', isNumber, 'a number of characters'),
  };
  return fields.issues.length > 0 ? { issues: fields.issues } : { value: { action } };
}

/** The input of `openai.local_shell`, likewise. */
export function readLocalShell(input: unknown): Read<LocalShellInput> {
  const fields = new Fields(input);
  fields.only('type', 'exec');
  const action: LocalShellInput['action'] = {
    type: 'exec',
    command: fields.strings('command'),
    ...fields.optional('timeoutMs', 'timeout_ms', isNumber, 'a number of milliseconds'),
    ...fields.optional('user', 'user', isString, 'a string'),
    ...fields.optional('workingDirectory', 'working_directory', isString, 'a string'),
    ...fields.optional('env', 'env', isEnv, 'an object of strings'),
  };
  return fields.issues.length > 0 ? { issues: fields.issues } : { value: { action } };
}

/** The commands of an action as inputs of the bash tool: what runs for them, and what is judged before. */
export function shellCommands({ action: { commands, timeoutMs } }: ShellInput): BashToolInput[] {
  return commands.map((command) => ({ command, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) }));
}

/** The one command of `openai.local_shell`, likewise. */
export function localShellCommand({ action }: LocalShellInput): BashToolInput {
  const { command, env, timeoutMs, workingDirectory } = action;
  return {
    command: commandOf(command, env),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(workingDirectory !== undefined && { cwd: workingDirectory }),
  };
}

/** The commands of an input of either tool; none of any other input. */
export function commandsOfAction(input: unknown): BashToolInput[] {
  const shell = readShell(input);
  if ('value' in shell) return shellCommands(shell.value);
  const local = readLocalShell(input);
  return 'value' in local ? [localShellCommand(local.value)] : [];
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isString);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isEnv(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.entries(value).every(([name, text]) => isString(text) && /^[^=\0]+$/.test(name));
}
