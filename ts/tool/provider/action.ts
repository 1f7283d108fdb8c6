import { isRecord, type Read, reader } from '../read.ts';
import type { BashInputIssue } from '../schema-types.ts';
import type { BashToolInput } from '../types.ts';
import { commandOf } from './argv.ts';
import type { LocalShellInput, ShellAction, ShellInput } from './inputs.ts';

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
