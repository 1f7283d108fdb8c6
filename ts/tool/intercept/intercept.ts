import { BashError } from 'agent-bash';
import { visible } from '../../core/visible.ts';
import { checkRuleNames } from '../option-names.ts';
import type { BashToolError, BashToolOptions, InterceptRule, SuggestedTool } from '../types.ts';
import { INTERCEPT_RULES } from './rules.ts';

/** Characters of a command that the answer repeats. The model already has the rest. */
const MOST_SHOWN = 500;

/** A rule with its compiled pattern. */
interface Compiled {
  pattern: RegExp;
  names: readonly string[];
  message: string;
}

const compiled = new WeakMap<object, Compiled[]>();

/** Returns the answer to a command that another available tool does better, or `null` for a command that runs. */
export function intercept(command: string, options: BashToolOptions): BashToolError | null {
  const rules = interceptRules(options);
  const { availableTools = [] } = options;
  if (rules.length === 0 || availableTools.length === 0) return null;
  for (const { pattern, names, message } of rules) {
    const name = atHand(names, availableTools);
    const match = name === undefined ? null : pattern.exec(command);
    if (name === undefined || match === null) continue;
    const suggestedTool: SuggestedTool = { name, input: inputOf(match) };
    return { error: answer(command, message, suggestedTool), code: 'ERR_BASH_BLOCKED', suggestedTool };
  }
  return null;
}

/** Returns the compiled rules, or none without an interceptor. Throws for an invalid pattern. */
export function interceptRules({ interceptor, availableTools }: BashToolOptions): Compiled[] {
  if (availableTools !== undefined && !isNames(availableTools)) throw wrong('availableTools', 'an array of names');
  if (interceptor === undefined || interceptor === false) return [];
  const rules = interceptor === true ? INTERCEPT_RULES : interceptor;
  if (!Array.isArray(rules)) throw wrong('interceptor', 'a boolean or an array of rules');
  const known = compiled.get(rules);
  if (known) return known;
  const made = rules.map(compile);
  compiled.set(rules, made);
  return made;
}

function compile(rule: InterceptRule, index: number): Compiled {
  const name = `interceptor[${index}]`;
  if (typeof rule !== 'object' || rule === null) throw wrong(name, 'a rule');
  checkRuleNames(name, rule);
  const { pattern, tool, message } = rule;
  const names = typeof tool === 'string' ? [tool] : tool;
  if (!isNames(names) || names.length === 0) throw wrong(`${name}.tool`, 'the name of a tool, or several');
  if (typeof message !== 'string') throw wrong(`${name}.message`, 'a sentence');
  if (typeof pattern !== 'string' && !(pattern instanceof RegExp)) {
    throw wrong(`${name}.pattern`, 'a regular expression');
  }
  try {
    // With `g` or `y` a pattern would remember its last position.
    const flags = typeof pattern === 'string' ? '' : pattern.flags.replace(/[gy]/g, '');
    return { pattern: new RegExp(typeof pattern === 'string' ? pattern : pattern.source, flags), names, message };
  } catch (error) {
    throw wrong(`${name}.pattern`, `a regular expression: ${(error as Error).message}`);
  }
}

function wrong(name: string, wanted: string): BashError {
  return new BashError('ERR_BASH_INVALID_ARG', `${name}: it is not ${wanted}`);
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

/** Returns the first name that matches an available tool, as that tool spells it. */
function atHand(names: readonly string[], tools: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, '');
  for (const name of names) {
    // The name of an MCP tool is prefixed with its server's name.
    const found = tools.find(
      (tool) => tool === name || [tool, tool.split('__').at(-1) ?? ''].some((own) => plain(own) === plain(name)),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the input that the rule's named groups describe, without internal groups. */
function inputOf({ groups = {} }: RegExpExecArray): Record<string, string> {
  const named = Object.entries(groups).filter(
    ([name, text]) => text !== undefined && !['quote', 'mark'].includes(name),
  );
  return Object.fromEntries(named.map(([name, text]) => [name, unquoted(text)]));
}

/** Removes the quotes of a word. */
function unquoted(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single, double: string | undefined, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["$`\\])/g, '$1'),
  );
}

function answer(command: string, message: string, { name, input }: SuggestedTool): string {
  const shown = command.length > MOST_SHOWN ? `${command.slice(0, MOST_SHOWN)}…` : command;
  const hints = Object.keys(input).length === 0 ? '' : ` with ${JSON.stringify(input)}`;
  return `Blocked: ${message}\nUse the tool ${name}${hints} instead.\nOriginal command: ${visible(shown)}`;
}
