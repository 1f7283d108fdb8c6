import { BashError, type BashOptions, type Draft, openDraft } from 'agent-bash';
import { DECIDED, type Decided } from '../../core/ledger.ts';
import { visible } from '../../core/visible.ts';
import { OWNER, type Owned, type Owner } from '../../core/world.ts';
import { isSandboxed } from '../executor.ts';
import { LISTED, summaryOf } from '../parts.ts';
import { type ToolSetup, toolFolder } from '../setup.ts';
import type { BashToolCommitted, BashToolDrafted, BashToolOptions } from '../types.ts';
import { ownTruncate } from './validate.ts';

/**
 * The drafts that each tool or session has opened, by their roots. Copies of an owner with another root share its
 * `end`.
 */
const opened = new WeakMap<object, Map<string, Promise<Draft>>>();

/** Bytes of a patch, for a tool that does not limit the bytes of outputs. */
const PATCH_BYTES = 51_200;

const NO_CONSENT =
  'a person has to consent to the commit of the draft, and nobody was asked: nothing was committed. The host can ask ' +
  'people (createToolApproval({ draft: true })), or commit the draft itself';

/** Returns the options of a command with its draft, which the first command opens if it is the tool's own. */
export async function withDraft<T extends BashToolOptions>(options: T & Owned): Promise<T> {
  if (options.draft === undefined || options.draft === false) return options;
  if (isSandboxed(options)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'in a sandbox there is no draft: nothing was run');
  }
  if (options.draft !== true) return options;
  const { drafts, root } = placeOf(options);
  const { confine } = options;
  const known = drafts.get(root);
  const draft = known ?? openDraft({ root, ...(typeof confine === 'object' && { confine }) });
  if (known === undefined) {
    drafts.set(root, draft);
    draft.catch(() => drafts.delete(root));
  }
  return { ...options, confine: undefined, draft: await draft };
}

/**
 * Forgets the tool's own draft if the error says that it is over, because someone else has committed or discarded it:
 * the next command opens another one.
 */
export async function forgetLost(options: BashToolOptions & Owned, error: unknown): Promise<void> {
  const { code, reason } = Object(error) as Partial<BashError>;
  if (code !== 'ERR_BASH_DRAFT' || reason !== 'unknown' || !options.draft) return;
  const { drafts, root } = placeOf(options);
  if (options.draft === true || (await drafts.get(root)) === options.draft) drafts.delete(root);
}

/** Closes the drafts that a tool has opened. */
export async function closeDrafts({ end }: Owner): Promise<void> {
  const drafts = opened.get(end)?.values() ?? [];
  opened.delete(end);
  await Promise.allSettled([...drafts].map(async (draft) => (await draft).close()));
}

/** Closes the drafts that a tool has opened, its own and those of its session. */
export async function closeToolDrafts({ owner, options }: ToolSetup): Promise<void> {
  const session = (options.session as Owned | undefined)?.[OWNER];
  await closeDrafts(owner);
  if (session) await closeDrafts(session);
}

/** Returns the draft of a call; `null` if no command has opened it. */
async function draftOf(options: BashToolOptions & Owned): Promise<Draft | null> {
  const { draft = false } = options;
  if (draft === false || isSandboxed(options)) {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'commands of this call run in no draft: nothing was done');
  }
  if (draft !== true) return draft as Draft;
  const { drafts, root } = placeOf(options);
  return (await drafts.get(root)) ?? null;
}

/** Returns what the draft of a call has changed, as text for a model. Paths are shown relative to `cwd`. */
export async function showDraft(
  how: 'summary' | 'diff',
  options: BashToolOptions & Owned,
  cwd: string,
): Promise<BashToolDrafted> {
  const draft = await draftOf(options);
  const { maxBytes = PATCH_BYTES } = ownTruncate(options);
  const patch = how === 'diff' ? visible((await draft?.diff({ maxBytes })) ?? '') : '';
  const text = patch === '' ? summaryOf((await draft?.changes({ list: LISTED })) ?? null, cwd) : patch;
  return { status: 'drafted', exitCode: 0, draft: draft?.id ?? null, text };
}

/** Returns what a commit of the draft would change, in lines for a person; `null` if there is nothing to commit. */
export async function commitInWords(options: BashToolOptions & Owned): Promise<{ root: string; says: string } | null> {
  const draft = await draftOf(options);
  if (draft === null) return null;
  return { root: draft.root, says: summaryOf(await draft.changes({ list: LISTED }), draft.root) };
}

/** Commits the draft of a call, if a person has approved it. */
export async function commitDraft(options: BashToolOptions & Owned & Decided): Promise<BashToolCommitted> {
  if (options.commit !== 'ask') {
    throw new BashError('ERR_BASH_UNSUPPORTED', 'the host commits the draft itself: nothing was committed');
  }
  const draft = await draftOf(options);
  if (draft === null) {
    return { status: 'committed', exitCode: 0, draft, applied: [], skipped: [], conflicts: [], undoId: '' };
  }
  if (options[DECIDED] === undefined) throw new BashError('ERR_BASH_BLOCKED', NO_CONSENT);
  const committed = await draft.commit();
  if (draft.state === 'committed' && options.draft === true) {
    const { drafts, root } = placeOf(options);
    drafts.delete(root);
  }
  return { status: 'committed', exitCode: committed.conflicts.length > 0 ? 1 : 0, draft: draft.id, ...committed };
}

/** Returns the root of the tool's own draft, and the drafts of its owner. */
function placeOf(options: Pick<BashOptions, 'cwd' | 'target'> & Owned): {
  drafts: Map<string, Promise<Draft>>;
  root: string;
} {
  const { [OWNER]: owner } = options;
  const drafts = (owner && opened.get(owner.end)) ?? new Map<string, Promise<Draft>>();
  if (owner) opened.set(owner.end, drafts);
  return { drafts, root: owner?.root ?? toolFolder(options) };
}
