import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { analyze, BackgroundRegistry, BashSession, defaultRegistry, type SafetyOptions, TargetPool } from 'agent-bash';
import { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from 'agent-bash/ai';
import { type McpToolsOptions, registerBashTools } from 'agent-bash/mcp';
import { type ConfineFlags, confineOf } from './confine.ts';
import { EXIT, Failure, readerGone, remark } from './console.ts';
import { folderOf, openPlace, type Place, type PoolFlags } from './pool-file.ts';
import { type EvidenceFlags, type RecordFlags, recordOf } from './record.ts';
import { type ReduceFlags, reduceOf } from './reduce.ts';

export interface McpOptions extends ConfineFlags, EvidenceFlags, RecordFlags, ReduceFlags, PoolFlags {
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
  checkRules(options);
  const target = await openPlace(options);
  try {
    await checkFolder(options, target);
    const instructions = options.session ? SESSION_INSTRUCTIONS : BASH_INSTRUCTIONS;
    const server = new McpServer({ name: 'agent-bash', version }, { instructions });
    registerBashTools(server, toolOptions(options, target));
    const end = ended(server);
    const transport = new StdioServerTransport();
    await server.connect(transport);
    keepIdsApart(transport);
    if (process.stdin.isTTY) await remark('this is a server: an MCP client is to write to its standard input');
    process.exitCode = await end;
  } finally {
    await target?.close();
  }
}

/**
 * Refuses a request with the id of one that has no answer yet. The SDK knows calls by their ids: a cancellation would
 * end the later one, and leave the earlier one running.
 */
function keepIdsApart(transport: Transport): void {
  const running = new Set<unknown>();
  const { onmessage: receive } = transport;
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('id' in message && !('method' in message)) running.delete(message.id);
    return send(message, options);
  };
  transport.onmessage = (message, extra) => {
    if (!('id' in message && 'method' in message)) return receive?.(message, extra);
    const { id } = message;
    if (!running.has(id)) {
      running.add(id);
      return receive?.(message, extra);
    }
    const error = {
      code: ErrorCode.InvalidRequest,
      message: `a request with the id ${JSON.stringify(id)} has no answer yet`,
    };
    send({ jsonrpc: '2.0', id, error }).catch(() => {});
  };
}

/** An option that would break every command is reported at once, where a person sees it. */
function checkRules({ rule }: McpOptions): void {
  analyze(':', { rules: rule as SafetyOptions['rules'] });
}

/** Does so for the directory. */
async function checkFolder({ cwd }: McpOptions, target: Place | undefined): Promise<void> {
  // A pool finds it out at the first command.
  if (cwd === undefined || target instanceof TargetPool) return;
  const isThere = target
    ? ['directory', 'link'].includes((await target.stat(cwd))?.kind ?? '')
    : (await stat(cwd).catch(() => null))?.isDirectory();
  if (isThere) return;
  throw new Failure('ERR_BASH_CWD_NOT_FOUND', `there is no directory ${cwd}${target ? ` on ${target.id}` : ''}`);
}

function toolOptions(options: McpOptions, target: Place | undefined): McpToolsOptions {
  const { timeout: timeoutMs, idleTimeout: idleTimeoutMs, rule, onAsk, evidence } = options;
  const folder = folderOf(target);
  const confine = confineOf(options, folder);
  // All commands of a client are one conversation.
  const affinity = target instanceof TargetPool ? `mcp-${randomUUID()}` : undefined;
  const page = onAsk === 'page';
  const safety = { rules: rule as SafetyOptions['rules'], onAsk: page ? undefined : onAsk };
  // The tool looks for a relative path on this machine.
  const cwd = target && folder !== '' ? resolve(folder, options.cwd ?? '') : options.cwd;
  const registry = registryOf(options, target, affinity);
  return {
    page,
    target,
    affinity,
    cwd,
    timeoutMs,
    idleTimeoutMs,
    safety,
    confine,
    ...recordOf(options),
    evidence,
    reduce: reduceOf(options),
    ...(options.session && { session: new BashSession({ target, affinity, cwd, confine }) }),
    // A registry holds background tasks. A command still ends at its limit.
    ...((registry || affinity) && { registry, onTimeout: 'kill' as const }),
  };
}

/** Returns the registry of the tools; `undefined`: the user's default. */
function registryOf(
  { dir }: McpOptions,
  target: Place | undefined,
  affinity: string | undefined,
): BackgroundRegistry | undefined {
  if (dir !== undefined) return new BackgroundRegistry({ target, affinity, dir });
  return target && !(target instanceof TargetPool) ? defaultRegistry(target) : undefined;
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
