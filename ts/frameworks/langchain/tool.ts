// @ts-expect-error the package is the caller's, and is not installed here
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { BashToolInput } from '../../tool/types.ts';
import { needs } from '../shared/needs.ts';
import { ToolCalls } from '../shared/tool-calls.ts';
import type { Tool } from '../shared/types.ts';

/** The part of a call's config that is used. */
interface Config {
  signal?: AbortSignal | undefined;
  toolCall?: { id?: string | undefined } | undefined;
}

/**
 * Makes the tool `bash` of a LangChain agent. The model reads the text of the result, and the `artifact` of the
 * ToolMessage is the output of `createBashTool`: a `BashResult`, a check, an undo or recalled lines. A command that
 * cannot run, or that is refused, is thrown, and so is a non-zero exit code with `errorOnFailure`. `config.signal` ends
 * the command and all it started.
 *
 * Without `registry` the tool has one of its own, whose tasks end with this process. Throws `ERR_BASH_UNSUPPORTED` if
 * `tool` is not a function, and `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const agent = createAgent({ model, tools: [langchainBash(tool, { confine: 'workspace' })] });
 * @param tool `tool` of `@langchain/core/tools` 1, or of `langchain`.
 */
export function langchainBash(tool: (run: never, fields: never) => unknown, options: Tool = {}): DynamicStructuredTool {
  needs('tool', tool, [''], { name: '@langchain/core/tools', lowest: '1.0.0' });
  const calls = new ToolCalls('langchainBash', options);
  const run = async (input: BashToolInput, { signal, toolCall }: Config = {}) => {
    const { text, output, failed } = await calls.answer(input, { toolCallId: toolCall?.id ?? '', signal });
    if (failed) throw new Error(text);
    return [text, output];
  };
  const { description } = calls.tool;
  return tool(
    run as never,
    {
      name: 'bash',
      description,
      schema: calls.schema,
      responseFormat: 'content_and_artifact',
    } as never,
  ) as DynamicStructuredTool;
}
