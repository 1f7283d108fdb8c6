import { sandboxOf } from './in-sandbox/sandbox.ts';
import { withSession } from './in-session.ts';
import type { BashApprovalCall, BashToolCall, BashToolExecutionOptions, BashToolOptions } from './types.ts';

/** A tool of ours, as far as it is known by. */
interface Tool {
  execute: (...given: never[]) => unknown;
}

/** What a tool was made with. */
export interface Made {
  options: BashToolOptions;
  /** Its folder on this machine, absolute. In a sandbox there is none but what the options say. */
  folder: string;
}

/** What each tool was made with, by the function that it has in whatever object it is spread into. */
const tools = new WeakMap<Tool['execute'], Made>();

export function keepOptions<T extends Tool>(tool: T, made: Made): T {
  tools.set(tool.execute, made);
  return tool;
}

/** What a tool of ours was made with. */
export function madeOf(tool: Tool): Made | undefined {
  return tools.get(tool?.execute);
}

/**
 * The options that hold for one call: `perCall` replaces them one by one, the sandbox of the call goes before theirs, and then the session has
 * its say. Throws `ERR_BASH_INVALID_ARG` for a sandbox that is none.
 */
export async function optionsFor(
  { options, folder }: Made,
  call: BashToolCall,
  sandbox?: BashToolExecutionOptions['experimental_sandbox'],
): Promise<BashToolOptions> {
  const asked = await options.perCall?.(call);
  const given = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined);
  const held: BashToolOptions = { ...options, ...Object.fromEntries(given), ...(sandbox != null && { sandbox }) };
  return withPlace(held, folder);
}

/** The options with the folder that they come to: the one of the session, of the tool, or in a sandbox what they say themselves. */
export function withPlace(options: BashToolOptions, folder: string): BashToolOptions {
  return sandboxOf(options) === undefined ? withSession({ ...options, cwd: options.cwd ?? folder }) : options;
}

/** The context of a call, wherever the major at hand puts it. */
export function contextOf(call: BashApprovalCall): unknown {
  return call.experimental_context ?? call.toolContext ?? call.context;
}
