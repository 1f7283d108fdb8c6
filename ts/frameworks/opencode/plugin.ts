import { OF_TASKS, taskLines } from '../../tool/call/task-lines.ts';
import { runningFirst } from '../../tool/parts.ts';
import { inFramework, inOurWords } from '../shared/fields.ts';
import { needs } from '../shared/needs.ts';
import { oneText, outcomeOf } from '../shared/outcome.ts';
import { ToolCalls } from '../shared/tool-calls.ts';
import type { Tool } from '../shared/types.ts';
import { askAbout } from './permission.ts';
import { type Arguments, argumentsOf, type Context, OF_SCHEMA, type OpencodeTool, type Result } from './types.ts';

/**
 * What is kept of an output. The rest of a text has room below the 2,000 lines and 51,200 bytes at which OpenCode cuts.
 */
const KEPT = { keep: 'tail', maxLines: 1_800, maxBytes: 45_000 } as const;
/** The most characters of live output. */
const LIVE_LENGTH = 30_000;

/**
 * Makes a plugin whose tool `bash` replaces that of OpenCode, with a tool `bash_tasks` beside it. OpenCode is asked
 * about each command, with a pattern for each simple command of the line, and answers by its own `permission` settings
 * or with its own dialog. What safety or `approval.deny` denies does not run, and nobody is asked. A command that
 * cannot run is thrown. Both streams are in the output, in the order of writing.
 *
 * Without `cwd` the directory is that of OpenCode. Throws `ERR_BASH_UNSUPPORTED` if `tool` is not the function, and
 * `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example export const AgentBash = opencodePlugin(tool, { confine: 'workspace' });
 * @param tool `tool` of `@opencode-ai/plugin`, from 1.0.
 */
export function opencodePlugin<T extends OpencodeTool>(tool: T, options: Tool = {}) {
  needs('tool', tool, ['', ...OF_SCHEMA], { name: '@opencode-ai/plugin', lowest: '1.0.0' });
  ToolCalls.check('opencodePlugin', options);
  return async ({ directory }: { directory: string }) => {
    const { sandbox, cwd = sandbox === undefined ? directory : undefined } = options;
    const here = sandbox === undefined && { merge: options.merge ?? true, truncate: options.truncate ?? KEPT };
    const calls = new ToolCalls('opencodePlugin', { ...options, ...here, cwd });
    return {
      tool: { bash: bashTool(tool, calls), bash_tasks: tasksTool(tool, calls) } as Record<string, ReturnType<T>>,
      dispose: () => calls.close(),
    };
  };
}

function bashTool(tool: OpencodeTool, calls: ToolCalls) {
  const { description, fields } = inFramework(calls, 'milliseconds', {
    workdir: { type: 'string', description: 'The directory to run in, in place of a cd. Default: the project.' },
    description: { type: 'string', description: 'What the command does, in 5 to 10 words.' },
  });
  return tool({
    description,
    args: argumentsOf(tool.schema, fields),
    execute: (given: Arguments, context: Context) => run(calls, given, context),
  });
}

async function run(calls: ToolCalls, given: Arguments, context: Context): Promise<Result> {
  const { workdir, description, ...input } = given;
  const asked = { ...inOurWords(input, 1), cwd: input.cwd ?? workdir };
  const call = { toolCallId: context.callID ?? '', signal: context.abort };
  const { verdict, analysis } = await calls.judge(asked, call);
  if (analysis !== null && verdict !== 'deny') await askAbout(analysis, description, context);
  const show = (output: string) => context.metadata({ metadata: { output: output.slice(-LIVE_LENGTH), description } });
  const { output, text, failed } = await calls.answer(asked, {
    ...call,
    // OpenCode has answered about a command. The commit of a draft is for `approval.onAsk`.
    ask: analysis === null ? undefined : () => true,
    onSnapshot: (live) => show(oneText(live)),
  });
  if (failed) throw new Error(text);
  const { text: shown, exitCode, truncated, runId } = outcomeOf(output);
  return {
    title: description ?? input.command ?? '',
    output: text,
    metadata: { output: shown, exit: exitCode, description, truncated, runId },
  };
}

function tasksTool(tool: OpencodeTool, calls: ToolCalls) {
  return tool({
    description: OF_TASKS,
    args: {},
    execute: async (): Promise<Result> => {
      const tasks = calls.registry.list().sort(runningFirst);
      return { title: 'Background processes', output: taskLines(tasks), metadata: { tasks } };
    },
  });
}
