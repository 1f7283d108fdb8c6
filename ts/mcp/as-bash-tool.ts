import { whileConnected } from './connection.ts';
import { Progress } from './progress.ts';
import { toolSchema } from './schema.ts';
import type { Tool, ToolAnswer, ToolCall } from './server.ts';

/**
 * Makes a tool `bash`. `run` gets each call with a signal that also aborts when the connection closes, and the progress
 * to tell if the client wants it, unless `isQuiet`.
 */
export function asBashTool(
  description: string,
  schema: Record<string, unknown>,
  run: (input: Record<string, unknown>, call: ToolCall, progress: Progress | null) => Promise<ToolAnswer>,
  isQuiet = false,
): Tool {
  const followed = async (input: Record<string, unknown>, call: ToolCall) => {
    const progress = call.progressToken === undefined || isQuiet ? null : new Progress(call);
    return await run(input, call, progress).finally(() => progress?.end());
  };
  return {
    name: 'bash',
    config: {
      title: 'Run a bash command',
      description,
      inputSchema: toolSchema(schema),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    answer: (input, call) => whileConnected(call, (signal) => followed(input, { ...call, signal })),
  };
}
