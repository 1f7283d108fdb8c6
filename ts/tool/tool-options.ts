import { bash, OutputStore } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { OWNER, type Owned, type Owner } from '../core/world.ts';
import type { Level } from '../reduce/keeping.ts';
import { toolFolder } from './call-plan.ts';
import { sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf, withSession } from './in-session.ts';
import { checkToolOptions } from './option-names.ts';
import type { BashApprovalCall, BashToolCall, BashToolExecutionOptions, BashToolOptions } from './types.ts';
import { levelOf } from './view/level.ts';
import { SHARED_OUTPUTS, type Sharing, VIEWS, type Viewed } from './view/outputs.ts';

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
  /** Where outputs are kept of which lines are left out, unless a call has its own place. */
  outputs: OutputStore;
  /** The level of a call if no option says it. */
  level: Level;
  /** Whether the model may recall lines. */
  recalls: boolean;
}

/** How a kind of tool reduces outputs. */
export interface Reducing {
  /** The level of a tool if no option says it. */
  level: Level;
  /** Whether its input can have `recall`. */
  recalls: boolean;
}

const NOT_REDUCING: Reducing = { level: 'off', recalls: false };

/** Returns the setup of a new tool. Its directory is fixed here. */
export function setupFor(options: BashToolOptions, { level, recalls }: Reducing = NOT_REDUCING): ToolSetup {
  const folder = toolFolder(options.cwd);
  const owner = (options as Owned)[OWNER] ?? innerOf(bash).newOwner(folder);
  const outputs = options.outputs ?? (options as Sharing)[SHARED_OUTPUTS] ?? new OutputStore();
  const setup = { options, folder, owner, outputs, level };
  return { ...setup, recalls: recalls && (options.outputs !== undefined || ownLevel(setup) === 'salient') };
}

/** Returns the level of a tool's calls, as long as `perCall` does not change it. */
export function ownLevel({ options, folder, level }: Pick<ToolSetup, 'options' | 'folder' | 'level'>): Level {
  return levelOf(withPlace(options, folder).reduce ?? level);
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
  setup: ToolSetup,
  call: BashToolCall,
  sandbox?: BashToolExecutionOptions['experimental_sandbox'],
): Promise<BashToolOptions> {
  const { options, folder, owner, outputs, recalls } = setup;
  const asked = await options.perCall?.(call);
  if (asked != null) checkToolOptions('perCall', asked);
  const given = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined);
  const held: BashToolOptions = { ...options, ...Object.fromEntries(given), ...(sandbox != null && { sandbox }) };
  const placed = withPlace(held, folder);
  const reduce = placed.reduce ?? setup.level;
  const level = asked == null && sandbox == null ? levelOf(reduce) : ownLevel(setup);
  const viewed: Viewed = { [VIEWS]: { outputs: placed.outputs ?? outputs, recalls, level } };
  return inWorld({ ...placed, reduce, ...viewed }, owner);
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
