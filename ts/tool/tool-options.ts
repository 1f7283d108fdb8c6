import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { OWNER, type Owned, type Owner } from '../core/world.ts';
import { toolFolder } from './call-plan.ts';
import { sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf, withSession } from './in-session.ts';
import { checkToolOptions } from './option-names.ts';
import type { BashApprovalCall, BashToolCall, BashToolExecutionOptions, BashToolOptions } from './types.ts';

/** A tool of ours, reduced to the function that identifies it. */
interface Tool {
  execute: (...given: never[]) => unknown;
}

/** The options that a tool was created with. */
export interface ToolSetup {
  options: BashToolOptions;
  /** The tool's directory on this machine, absolute. It does not apply in a sandbox. */
  folder: string;
  /** The owner of the worlds in which confined commands run. */
  owner: Owner;
}

/** Returns the setup of a new tool. Its directory is fixed here. */
export function setupFor(options: BashToolOptions): ToolSetup {
  const folder = toolFolder(options.cwd);
  const owner = (options as Owned)[OWNER] ?? innerOf(bash).newOwner(folder);
  return { options, folder, owner };
}

/** The options of each tool by its `execute` function, which survives spreading the tool into another object. */
const tools = new WeakMap<Tool['execute'], ToolSetup>();

export function rememberSetup<T extends Tool>(tool: T, setup: ToolSetup): T {
  tools.set(tool.execute, setup);
  return tool;
}

/** Returns the options that a tool of ours was created with. */
export function setupOf(tool: Tool): ToolSetup | undefined {
  return tools.get(tool?.execute);
}

/**
 * Returns the options of one call. `perCall` replaces them one by one, the call's sandbox takes precedence, and the
 * session's options fill the gaps. Throws `ERR_BASH_INVALID_ARG` for a value that is not a sandbox.
 */
export async function optionsFor(
  { options, folder, owner }: ToolSetup,
  call: BashToolCall,
  sandbox?: BashToolExecutionOptions['experimental_sandbox'],
): Promise<BashToolOptions> {
  const asked = await options.perCall?.(call);
  if (asked != null) checkToolOptions('perCall', asked);
  const given = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined);
  const held: BashToolOptions = { ...options, ...Object.fromEntries(given), ...(sandbox != null && { sandbox }) };
  return inWorld(withPlace(held, folder), owner);
}

/**
 * Returns the options with the owner of the command's world: the session, or the tool. The root is their directory, or
 * that of `perCall`, whatever directory the model asks for.
 */
function inWorld(options: BashToolOptions, owner: Owner): BashToolOptions & Owned {
  const session = sessionOf(options) as Owned | undefined;
  return { ...options, [OWNER]: session?.[OWNER] ?? { ...owner, root: toolFolder(options.cwd) } };
}

/**
 * Returns the options with the directory they apply in: the session's, the tool's, or in a sandbox the one they name.
 */
export function withPlace(options: BashToolOptions, folder: string): BashToolOptions {
  return sandboxOf(options) === undefined ? withSession({ ...options, cwd: options.cwd ?? folder }) : options;
}

/** Returns the context of a call, in the field of either major. */
export function contextOf(call: BashApprovalCall): unknown {
  return call.experimental_context ?? call.toolContext ?? call.context;
}
