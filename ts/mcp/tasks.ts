import { type BackgroundRegistry, defaultRegistry } from 'agent-bash';
import type { BashToolOptions } from 'agent-bash/ai';
import { placeOfCalls } from '../tool/call/manage.ts';
import { OF_TASKS, taskLines } from '../tool/call/task-lines.ts';
import { runningFirst } from '../tool/parts.ts';
import { failed } from './failed.ts';
import { toolSchema } from './schema.ts';
import type { Tool, ToolCall } from './server.ts';

/** The tool `bash_tasks`, which lists background tasks, running and ended. */
export function tasksTool(options: BashToolOptions): Tool {
  return {
    name: 'bash_tasks',
    config: {
      title: 'List background processes',
      description: OF_TASKS,
      inputSchema: toolSchema({ type: 'object', properties: {} }),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async answer(_input, call) {
      try {
        const tasks = (await (await registryOf(options, call)).refresh()).sort(runningFirst);
        return { content: [{ type: 'text', text: taskLines(tasks) }], structuredContent: { tasks }, isError: false };
      } catch (error) {
        return failed(error);
      }
    },
  };
}

/** Returns the registry of this call, as for the tool `bash`. */
async function registryOf(options: BashToolOptions, { id, context }: ToolCall): Promise<BackgroundRegistry> {
  const asked = await options.perCall?.({ context, toolCallId: `mcp-${id}` });
  const { registry = options.registry, session = options.session, target = options.target } = asked ?? {};
  const { affinity = options.affinity } = asked ?? {};
  const known = registry ?? session?.options.registry;
  return known ?? defaultRegistry(placeOfCalls(target ?? session?.options.target, affinity));
}
