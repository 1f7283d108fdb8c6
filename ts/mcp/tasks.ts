import { type BackgroundRegistry, type BackgroundTask, defaultRegistry } from 'agent-bash';
import type { BashToolOptions } from 'agent-bash/ai';
import { runningFirst } from '../tool/parts.ts';
import { failed } from './failed.ts';
import { toolSchema } from './schema.ts';
import type { Tool, ToolCall } from './server.ts';

/** Tasks, and characters of their commands, that the model reads. Programs receive all of them. */
const MOST = 50;
const COMMAND_LENGTH = 200;

/** The tool `bash_tasks`, which lists background tasks, running and ended. */
export function tasksTool(options: BashToolOptions): Tool {
  return {
    name: 'bash_tasks',
    config: {
      title: 'List background processes',
      description:
        'Lists the processes that bash started in the background, with pid, state, command and the file of their output: those that run first, then the newest. check_pid, wait_pid and kill_pid of bash look at one, wait for it and end it.',
      inputSchema: toolSchema({ type: 'object', properties: {} }),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async answer(_input, call) {
      try {
        const tasks = (await registryOf(options, call)).list().sort(runningFirst);
        return { content: [{ type: 'text', text: told(tasks) }], structuredContent: { tasks }, isError: false };
      } catch (error) {
        return failed(error);
      }
    },
  };
}

/** Returns the registry of this call, as for the tool `bash`. */
async function registryOf(options: BashToolOptions, { id, context }: ToolCall): Promise<BackgroundRegistry> {
  const asked = await options.perCall?.({ context, toolCallId: `mcp-${id}` });
  const { registry = options.registry, session = options.session } = asked ?? {};
  return registry ?? session?.options.registry ?? defaultRegistry();
}

function told(tasks: BackgroundTask[]): string {
  if (tasks.length === 0) return 'There are no background processes.';
  const more = tasks.length - MOST;
  return [...tasks.slice(0, MOST).map(line), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function line({ pid, state, exitCode, signal, command, logPath }: BackgroundTask): string {
  const end = state === 'exited' ? ` with code ${exitCode}` : state === 'killed' ? ` by ${signal ?? exitCode}` : '';
  const text = command.replaceAll(/\s+/g, ' ').trim();
  const shown = text.length > COMMAND_LENGTH ? `${text.slice(0, COMMAND_LENGTH - 1)}…` : text;
  return `${pid} ${state}${end}: ${shown} (output: ${logPath})`;
}
