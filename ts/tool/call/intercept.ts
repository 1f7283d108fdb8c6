import { BashError } from 'agent-bash';
import { visible } from '../../core/visible.ts';
import { checkRuleNames } from '../options.ts';
import type { BashToolError, BashToolOptions, InterceptRule, SuggestedTool } from '../types.ts';

// Only a command that consists of this single use is intercepted. A command that needs a shell (a pipe, a list, an
// expansion, a glob) must run. Each piece starts with a distinct character and the number of options is bounded, so
// that no text causes excessive backtracking.
const BLANK = '[ \\t]+';
const GAP = '[ \\t]*';
const QUOTED = `'[^']*'|"(?:[^"$\`\\\\]|\\\\[^\\n])*"|\\\\[^\\n]`;
const WORD = `(?!#)(?:[^\\s|&;<>()$\`"'\\\\*?[\\]{}]|${QUOTED})+`;
/** A word that may contain globs, which search tools also accept. */
const GLOB = `(?!#)(?:[^\\s|&;<>()$\`"'\\\\]|${QUOTED})+`;
/** A file on disk: not an option, a descriptor or a device. */
const FILE = `(?!-)(?!["']?/(?:dev|proc|sys)/)${WORD}`;
const FLAGS = `(?:${BLANK}-{1,2}[A-Za-z][\\w-]*){0,9}`;
/** Errors may be discarded or merged: that makes no difference to the other tool. */
const END = `(?:${BLANK}2>${GAP}(?:/dev/null|&1))?(?:${GAP};)?\\s*$`;
const whole = (pattern: string) => `^\\s*${pattern}${END}`;

/** A heredoc whose body is literal: quoted, or with nothing to expand. It ends with the command. */
const QUOTED_MARK = `<<-?${GAP}(?<quote>["'])(?<mark>[\\w.-]+)\\k<quote>`;
const QUOTED_BODY = `${GAP}\\n(?:(?!\\t*\\k<mark>[ \\t]*(?:\\n|$))[^\\n]*\\n)*\\t*\\k<mark>\\s*$`;
const PLAIN_MARK = `<<-?${GAP}(?<mark>\\w[\\w.-]*)`;
const PLAIN_BODY = `${GAP}\\n(?:(?!\\t*\\k<mark>[ \\t]*(?:\\n|$))[^\\n$\`]*\\n)*\\t*\\k<mark>\\s*$`;
const heredoc = (before: string, after: string) => [
  `^\\s*${before}${GAP}${QUOTED_MARK}${after}${QUOTED_BODY}`,
  `^\\s*${before}${GAP}${PLAIN_MARK}${after}${PLAIN_BODY}`,
];

const SAY = `(?:echo|printf)(?:${BLANK}${WORD})+?`;
const NOWHERE = `(?:${GAP}>${GAP}/dev/null)?`;
const into = (operator: string) => `${operator}${GAP}(?<path>${FILE})`;
/** Words and the redirection of their output. A number right before it would redirect another stream. */
const SAY_INTO = `${SAY}(?:${BLANK}|(?<![ \\t]\\d+))`;

const GREP_FLAGS = `(?:${BLANK}(?:-[ABCmd]${GAP}\\d+|-[A-Za-pr-z]+|--(?:include|exclude(?:-dir)?)${BLANK}${GLOB}|--(?!quiet|silent|help|version)[a-z][a-z-]*(?:=${GLOB})?)){0,9}`;
const RG_FLAGS = `(?:${BLANK}(?:-[ABCjmM]${GAP}\\d+|-[gtT]${GAP}${GLOB}|-[A-Za-pr-z]+|--(?:i?glob|type(?:-not)?|max-(?:count|depth)|(?:(?:after|before)-)?context)${BLANK}${GLOB}|--(?!quiet|files|help|version|pre|replace|type-list)[a-z][a-z-]*(?:=${GLOB})?)){0,9}`;
const PATTERN = `${BLANK}(?<pattern>(?!-)${GLOB})`;
const PATHS = `${BLANK}(?<path>(?!-)${GLOB})(?:${BLANK}(?!-)${GLOB})*`;

/** Names of the tools for each job. Case, `_` and `-` make no difference. */
const TOOLS = {
  read: [
    'read',
    'read_file',
    'view',
    'view_file',
    'open_file',
    'cat_file',
    'file_read',
    'read_text_file',
    'str_replace_based_edit_tool',
    'str_replace_editor',
  ],
  grep: [
    'grep',
    'grep_search',
    'grep_files',
    'ripgrep',
    'rg',
    'file_search_content',
    'search_file_content',
    'search_code',
    'code_search',
    'find_in_files',
  ],
  glob: [
    'glob',
    'glob_search',
    'glob_files',
    'find',
    'find_files',
    'find_path',
    'file_search',
    'search_files_by_name',
    'list_files',
  ],
  edit: [
    'edit',
    'edit_file',
    'file_edit',
    'multi_edit',
    'str_replace',
    'str_replace_based_edit_tool',
    'str_replace_editor',
    'replace',
    'replace_in_file',
    'search_replace',
    'apply_patch',
    'apply_diff',
    'patch',
  ],
  write: [
    'write',
    'write_file',
    'file_write',
    'write_to_file',
    'write_text_file',
    'create_file',
    'create',
    'save_file',
    'str_replace_based_edit_tool',
    'str_replace_editor',
  ],
};

const READ = {
  tool: TOOLS.read,
  message: 'a file is read with the tool for it, which numbers the lines and can go on where it stopped.',
};
const GREP = {
  tool: TOOLS.grep,
  message:
    'files are searched with the tool for it, which leaves out what git ignores and keeps long results in bounds.',
};
const GLOB_TOOL = {
  tool: TOOLS.glob,
  message:
    'files are found by name with the tool for it, which leaves out what git ignores and keeps long results in bounds.',
};
const EDIT = {
  tool: TOOLS.edit,
  message: 'a file is changed with the tool for it, which says when the text that was to be replaced is not there.',
};
const WRITE = {
  tool: TOOLS.write,
  message: 'a file is written with the tool for it: nothing has to be quoted, and the person sees what changes.',
};
const APPEND = { ...EDIT, tool: [...TOOLS.edit, ...TOOLS.write] };

const rules = (patterns: string[], rest: Omit<InterceptRule, 'pattern'>): InterceptRule[] =>
  patterns.map((pattern) => ({ pattern, ...rest }));

/**
 * The commands that `interceptor: true` stops: reading a file, searching, finding files by name, editing a file in
 * place, and writing a file by redirection. A rule only applies to a whole command that needs no shell.
 */
export const INTERCEPT_RULES: readonly InterceptRule[] = [
  ...rules(
    [
      whole(
        `(?:cat(?:${BLANK}-[nbsu]+)*|(?:bat|batcat|less|more|nl)${FLAGS})(?:${BLANK}--)?${BLANK}(?<path>${FILE})(?:${BLANK}${FILE})*`,
      ),
      whole(
        `(?:head|tail)(?:${BLANK}(?:-n${GAP}[-+]?\\d+|-\\d+|--lines(?:=|${BLANK})[-+]?\\d+|-[qv]))*${BLANK}(?<path>${FILE})`,
      ),
      whole(`sed${BLANK}-n${BLANK}["']?\\d+(?:,(?:\\d+|\\$))?p["']?${BLANK}(?<path>${FILE})`),
    ],
    READ,
  ),
  ...rules(
    [
      // grep without a file reads its input, unless it searches directories. -q only tests, which is for scripts.
      whole(`[ef]?grep${GREP_FLAGS}${PATTERN}${GREP_FLAGS}${PATHS}${GREP_FLAGS}`),
      whole(
        `[ef]?grep${GREP_FLAGS}${BLANK}(?:-[A-Za-pr-z]*[rR][A-Za-pr-z]*|--recursive)${GREP_FLAGS}${PATTERN}${GREP_FLAGS}`,
      ),
      whole(`(?:rg|ag|ack)${RG_FLAGS}${PATTERN}${RG_FLAGS}(?:${PATHS}${RG_FLAGS})?`),
    ],
    GREP,
  ),
  ...rules(
    [
      // Tests of names and depth only: other tools do not find by age, size or permissions, and -exec and -delete act.
      whole(
        `find(?:(?=[^!\\n]*?(?<!-not)[ \\t]-i?(?:name|path)${BLANK}(?<pattern>${WORD}))|)(?:${BLANK}(?<path>(?![-(!])${WORD})(?:${BLANK}(?![-(!])${WORD})*)?(?:${BLANK}(?:-i?(?:name|path|wholename|regex)${BLANK}${WORD}|-type${BLANK}[fdl](?:,[fdl])*|-(?:max|min)depth${BLANK}\\d+|-not|!|-a|-and|-o|-or|-prune|-print|\\\\[()]))+`,
      ),
      whole(
        `(?:fd|fdfind)(?:${BLANK}(?:-[teEd]${BLANK}${WORD}|-[HIgpauisFL]+|--(?!exec|help|version)[a-z][a-z-]*(?:=${GLOB})?))*${BLANK}(?<pattern>(?!-)${WORD})(?:${BLANK}(?<path>(?!-)${WORD}))?(?:${BLANK}-[teEd]${BLANK}${WORD})*`,
      ),
      whole(
        `rg${BLANK}--files(?:${BLANK}(?:-g${BLANK}(?<pattern>${GLOB})|--hidden|--no-ignore))*(?:${BLANK}(?<path>(?!-)${WORD}))?`,
      ),
      whole(
        `ls(?:${BLANK}-[A-Za-z1]{1,9}){0,9}${BLANK}-[A-Za-z1]{0,9}R[A-Za-z1]{0,9}(?:${BLANK}-[A-Za-z1]{1,9}){0,9}(?:${BLANK}(?<path>(?!-)${WORD}))?`,
      ),
    ],
    GLOB_TOOL,
  ),
  ...rules(
    [
      // A single file: changing many files at once is a job for a shell.
      whole(
        `sed(?:${BLANK}-[nErsuz]+)*${BLANK}(?:-[nErsuz]*i[\\w.~]*(?:${BLANK}(?:''|""))?|--in-place(?:=${WORD})?)(?:${BLANK}-[nErsuz]+)*(?:(?:${BLANK}-e${BLANK}${GLOB})+|${BLANK}(?!-)${GLOB})${BLANK}(?<path>${FILE})`,
      ),
      whole(
        `(?:perl|ruby)(?:${BLANK}-[0lnw]+)*${BLANK}-[0lnwp]*i[\\w.]*(?:${BLANK}-[0lnwpe]+)*${BLANK}(?!-)${GLOB}${BLANK}(?<path>${FILE})`,
      ),
      whole(
        `(?:perl|ruby)(?:${BLANK}-[0lnwp]+)*${BLANK}-[0lnw]*i[\\w.]*(?:${BLANK}-[0lnwpe]+)*${BLANK}(?!-)${GLOB}${BLANK}(?<path>${FILE})`,
      ),
    ],
    EDIT,
  ),
  ...rules(
    [
      whole(`${SAY_INTO}${into('>\\|?')}`),
      whole(`${SAY}${GAP}\\|${GAP}tee${BLANK}(?<path>${FILE})${NOWHERE}`),
      ...heredoc('cat', `${GAP}${into('>')}`),
      ...heredoc(`cat${GAP}${into('>')}`, ''),
      ...heredoc(`tee${BLANK}(?<path>${FILE})`, NOWHERE),
    ],
    WRITE,
  ),
  ...rules(
    [
      whole(`${SAY_INTO}${into('>>')}`),
      whole(`${SAY}${GAP}\\|${GAP}tee${BLANK}(?:-a|--append)${BLANK}(?<path>${FILE})${NOWHERE}`),
      ...heredoc('cat', `${GAP}${into('>>')}`),
      ...heredoc(`cat${GAP}${into('>>')}`, ''),
      ...heredoc(`tee${BLANK}(?:-a|--append)${BLANK}(?<path>${FILE})`, NOWHERE),
    ],
    APPEND,
  ),
];

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
