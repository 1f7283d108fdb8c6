import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { analyze, BackgroundRegistry, BashSession, type SafetyOptions } from 'agent-bash';
import { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from 'agent-bash/ai';
import { type McpToolsOptions, registerBashTools } from 'agent-bash/mcp';
import { type ConfineFlags, confineOf } from './confine.ts';
import { EXIT, Failure, readerGone, remark } from './console.ts';
import { type EvidenceFlags, type RecordFlags, recordOf } from './record.ts';
import { type ReduceFlags, reduceOf } from './reduce.ts';

export interface McpOptions extends ConfineFlags, EvidenceFlags, RecordFlags, ReduceFlags {
  cwd?: string;
  timeout?: number;
  idleTimeout?: number;
  dir?: string;
  session?: boolean;
  rule?: Record<string, string>;
  onAsk?: 'allow' | 'deny' | 'page';
}

/**
 * `agent-bash mcp`: serves the bash tool on standard input and output until the client disconnects. Standard output
 * carries only the protocol.
 */
export async function mcp(options: McpOptions, version: string): Promise<void> {
  await checkOptions(options);
  const instructions = options.session ? SESSION_INSTRUCTIONS : BASH_INSTRUCTIONS;
  const server = new McpServer({ name: 'agent-bash', version }, { instructions });
  registerBashTools(server, toolOptions(options));
  const end = ended(server);
  await server.connect(new StdioServerTransport());
  if (process.stdin.isTTY) await remark('this is a server: an MCP client is to write to its standard input');
  process.exitCode = await end;
}

/** An option that would break every command is reported at once, where a person sees it. */
async function checkOptions({ cwd, rule }: McpOptions): Promise<void> {
  if (cwd !== undefined && !(await stat(cwd).catch(() => null))?.isDirectory()) {
    throw new Failure('ERR_BASH_CWD_NOT_FOUND', `there is no directory ${cwd}`);
  }
  analyze(':', { rules: rule as SafetyOptions['rules'] });
}

function toolOptions(options: McpOptions): McpToolsOptions {
  const { cwd, timeout: timeoutMs, idleTimeout: idleTimeoutMs, dir, session, rule, onAsk, evidence } = options;
  const confine = confineOf(options);
  const page = onAsk === 'page';
  const safety = { rules: rule as SafetyOptions['rules'], onAsk: page ? undefined : onAsk };
  return {
    page,
    cwd,
    timeoutMs,
    idleTimeoutMs,
    safety,
    confine,
    ...recordOf(options),
    evidence,
    reduce: reduceOf(options),
    ...(session && { session: new BashSession({ cwd, confine }) }),
    // A registry holds background tasks. A command still ends at its limit.
    ...(dir !== undefined && { registry: new BackgroundRegistry({ dir }), onTimeout: 'kill' as const }),
  };
}

/**
 * Resolves with the exit code when the client is gone. The commands that still run are being ended and keep the process
 * alive until then.
 */
async function ended(server: McpServer): Promise<number> {
  const code = await new Promise<number>((resolve, reject) => {
    process.stdin.on('end', () => resolve(EXIT.done)).on('error', () => resolve(EXIT.done));
    readerGone.signal.addEventListener('abort', () => resolve(EXIT.done));
    let remarked = false;
    server.server.onerror = () => {
      // One remark is enough, even for a flood of invalid messages.
      if (!remarked) void remark('what came on standard input was no message of the protocol, and was left out');
      remarked = true;
    };
    server.server.onclose = () =>
      reject(new Failure('ERR_BASH_CLOSED', 'the connection was closed: a message was too long'));
    let asked: number | undefined;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        // The second signal exits at once.
        if (asked !== undefined) process.exit(asked);
        asked = 128 + constants.signals[name];
        resolve(asked);
      });
    }
  });
  server.server.onclose = () => {};
  await server.close();
  return code;
}
