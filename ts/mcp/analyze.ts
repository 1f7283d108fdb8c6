import { type Analysis, BashError, type Finding } from 'agent-bash';
import { type BashToolOptions, createBashTool, createToolApproval } from 'agent-bash/ai';
import { failed } from './failed.ts';
import { startingIn } from './folder.ts';
import { toolSchema } from './schema.ts';
import type { Tool, ToolCall } from './server.ts';

/** The tool `bash_analyze`: the safety engine's judgement of a command, as `bash` would run it. */
export function analyzeTool(options: BashToolOptions, folder: string): Tool {
  return {
    name: 'bash_analyze',
    config: {
      title: 'Judge a bash command',
      description:
        'Says what a bash command would do, without running it: whether it is allowed, warned of, asked about or denied, why, what to run instead, and whether it only reads.',
      inputSchema: toolSchema({
        type: 'object',
        properties: { command: { type: 'string', description: 'The command, as bash would be given it.' } },
        required: ['command'],
      }),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async answer({ command }, call) {
      try {
        if (typeof command !== 'string') throw new BashError('ERR_BASH_INVALID_ARG', 'command must be a string');
        const analysis = await judge(command, call, options, folder);
        return {
          content: [{ type: 'text', text: told(analysis) }],
          structuredContent: { ...analysis },
          isError: false,
        };
      } catch (error) {
        return failed(error);
      }
    },
  };
}

async function judge(command: string, call: ToolCall, options: BashToolOptions, folder: string): Promise<Analysis> {
  const rooted = await startingIn(options, call, folder);
  const approval = createToolApproval({ tool: createBashTool(rooted.options) });
  const { analysis, reason } = await approval.judge(
    { command },
    { toolCallId: `mcp-${call.id}`, experimental_context: call.context },
  );
  if (analysis === null) throw new BashError('ERR_BASH_INVALID_ARG', reason);
  return analysis;
}

function told({ verdict, complete, readOnly, findings }: Analysis): string {
  const facts = [
    `verdict: ${verdict}`,
    ...(complete ? [] : ['not all of it could be judged']),
    ...(readOnly === 'yes' ? ['it only reads'] : readOnly === 'no' ? ['it changes something'] : []),
  ];
  return [facts.join('; '), ...findings.map(found)].join('\n');
}

function found({ level, ruleId, message, suggestion }: Finding): string {
  return `${level} (${ruleId}): ${message}${suggestion === '' ? '' : `\n  instead: ${suggestion}`}`;
}
