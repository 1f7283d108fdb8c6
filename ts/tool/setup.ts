import { isAbsolute, join, resolve } from 'node:path';
import { type BashOptions, bash, OutputStore, type Target } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { DECIDED, type Decided } from '../core/ledger.ts';
import { OWNER, type Owned, type Owner } from '../core/world.ts';
import type { Level } from '../reduce/keeping.ts';
import { executorOf, isSandboxed, runsNatively } from './executor.ts';
import {
  checkDraft,
  checkToolOptions,
  levelOf,
  SHARED_OUTPUTS,
  type Sharing,
  undoOption,
  VIEWS,
  type Viewed,
} from './options.ts';
import { withSession } from './session.ts';
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
  /** The store for outputs whose views leave out lines, unless a call has its own store. */
  outputs: OutputStore;
  /** The level of a call without an option for it. */
  level: Level;
  /** Whether the model may recall lines. */
  recalls: boolean;
  /** Whether the outputs of producers are kept, unless the options say otherwise. */
  taps: 'off' | 'on';
}

/** How a kind of tool reduces outputs. */
export interface Reducing {
  /** The level of a tool without an option for it. */
  level: Level;
  /** Whether the input can have `recall`. */
  recalls: boolean;
  /** Whether the outputs of producers are kept, unless the options say otherwise. */
  taps: 'off' | 'on';
}

const NOT_REDUCING: Reducing = { level: 'off', recalls: false, taps: 'off' };

/** Returns the setup of a new tool. Its directory is fixed here. */
export function setupFor(given: BashToolOptions, { level, recalls, taps }: Reducing = NOT_REDUCING): ToolSetup {
  const options = ofOneConversation(given);
  const folder = toolFolder(options);
  checkDraft(withPlace(options, folder));
  const owner = (options as Owned)[OWNER] ?? beginningOwner(options, folder);
  const outputs = options.outputs ?? (options as Sharing)[SHARED_OUTPUTS] ?? new OutputStore();
  const setup = { options, folder, owner, outputs, level, taps };
  const keeps = options.outputs !== undefined || ownLevel(setup) === 'salient' || mayTap(options, taps);
  return { ...setup, recalls: recalls && keeps };
}

/**
 * Returns options with an affinity if a pool runs the commands: the calls of a tool are one conversation, whose files
 * are in one place.
 */
export function ofOneConversation<Options extends BashToolOptions>(options: Options): Options {
  const { target, affinity, registry } = options;
  // Commands run where their registry is.
  const isWithout = affinity === undefined && registry === undefined && innerOf(bash).isPool(target);
  return isWithout ? { ...options, affinity: `tool-${crypto.randomUUID()}` } : options;
}

/** Returns whether commands of a tool can have taps. */
function mayTap(options: BashToolOptions, standard: 'off' | 'on'): boolean {
  const { taps = options.onAfterRun === undefined ? standard : 'off', evidence } = options;
  return taps === 'on' && evidence !== 'off' && runsNatively(options);
}

/** Makes the owner of a tool's worlds, and begins the world of its first call unless that has a place of its own. */
export function beginningOwner(options: BashToolOptions, folder: string): Owner {
  const owner = innerOf(bash).newOwner(folder);
  const { session, sandbox, run } = options;
  if ([session, sandbox, run].every((place) => place === undefined)) owner.begin(runOptions(options));
  return owner;
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
  const { options, folder, owner, outputs, recalls, taps } = setup;
  const asked = await options.perCall?.(call);
  if (asked != null) checkToolOptions('perCall', asked);
  const given = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined);
  const held: BashToolOptions = { ...options, ...Object.fromEntries(given), ...(sandbox != null && { sandbox }) };
  const placed = withPlace(held, folder);
  const reduce = placed.reduce ?? setup.level;
  const level = asked == null && sandbox == null ? levelOf(reduce) : ownLevel(setup);
  const viewed: Viewed = { [VIEWS]: { outputs: placed.outputs ?? outputs, recalls, level, taps } };
  return inWorld({ ...placed, reduce, ...viewed }, owner);
}

/**
 * Returns the options with the owner of the command's world: the session, or the tool. The root is the owner's
 * directory, or the directory of `perCall`, whatever directory the model asks for.
 */
function inWorld(options: BashToolOptions, owner: Owner): BashToolOptions & Owned {
  const executor = executorOf(options);
  const session = executor.kind === 'session' ? (executor.session as Owned) : undefined;
  return { ...options, [OWNER]: session?.[OWNER] ?? { ...owner, root: toolFolder(options) } };
}

/**
 * Returns the options with the directory they apply in: the session's, the tool's, or in a sandbox the one they name.
 */
export function withPlace(options: BashToolOptions, folder: string): BashToolOptions {
  return isSandboxed(options) ? options : withSession({ ...options, cwd: options.cwd ?? folder });
}

/** Returns the context of a call, in the field of either major. */
export function contextOf(call: BashApprovalCall): unknown {
  return call.experimental_context ?? call.toolContext ?? call.context;
}

/**
 * Returns the tool's directory, here or on its target, as an absolute path; on a pool, as the options name it. A value
 * that is not a string is returned unchanged; the run then rejects it by name.
 */
export function toolFolder({ cwd, target }: Pick<BashOptions, 'cwd' | 'target'>): string {
  if (cwd !== undefined && typeof cwd !== 'string') return cwd;
  // Which of its machines will run a command is not known yet.
  if (innerOf(bash).isPool(target)) return cwd ?? '.';
  // The run rejects a target that is none.
  const start = (target as Target | undefined)?.info?.cwd;
  return start === undefined ? resolve(cwd ?? '.') : resolve(start, cwd ?? '');
}

/** Resolves the directory of a call against the tool's. */
export function callFolder(folder: string, cwd: string | null | undefined): string {
  if (cwd == null || typeof folder !== 'string') return folder;
  return isAbsolute(folder) || isAbsolute(cwd) ? resolve(folder, cwd) : join(folder, cwd);
}

/** Returns the options that `bash()` takes, without the tool's own. */
export function runOptions(options: BashToolOptions): BashOptions {
  const { perCall, errorOnFailure, run, updateIntervalMs, description, onBeforeRun, onAfterRun, ...others } = options;
  const { availableTools, interceptor, session, terminal, sandbox, onAccess, undo, reduce, outputs, ...own } = others;
  const { draft, commit, ...more } = own;
  const {
    [VIEWS]: views,
    [SHARED_OUTPUTS]: shared,
    [DECIDED]: decided,
    ...rest
  } = more as typeof more & Viewed & Sharing & Decided;
  return {
    ...rest,
    ...(undo !== undefined && { undo: undoOption(undo) }),
    // `true` is not opened yet, and no draft for `bash`: such a command runs nowhere.
    ...(draft !== undefined && draft !== false && { draft: draft as BashOptions['draft'] }),
  };
}
