import { withSession } from './in-session.ts';
import type { BashApprovalCall, BashTool, BashToolCall, BashToolOptions } from './types.ts';

/** The options of each tool, by the function that it has in whatever object it is spread into. */
const tools = new WeakMap<BashTool['execute'], BashToolOptions>();

export function keepOptions(tool: BashTool, options: BashToolOptions): BashTool {
  tools.set(tool.execute, options);
  return tool;
}

/** The options of a tool of ours. */
export function optionsOf(tool: BashTool): BashToolOptions | undefined {
  return tools.get(tool?.execute);
}

/** The options that hold for one call: `perCall` replaces them one by one, then its session has its say. */
export async function optionsFor(options: BashToolOptions, call: BashToolCall): Promise<BashToolOptions> {
  const asked = await options.perCall?.(call);
  const given = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined);
  return withSession({ ...options, ...Object.fromEntries(given) });
}

/** The context of a call, wherever the major at hand puts it. */
export function contextOf(call: BashApprovalCall): unknown {
  return call.experimental_context ?? call.toolContext ?? call.context;
}
