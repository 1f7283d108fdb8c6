import type { NativeView } from '../../native.cjs';
import type { EventOf } from '../core/calls.ts';
import { withTap } from '../evidence/tap.ts';
import { type BashResult, resultOf } from '../result.ts';
import { type There, thereOf } from '../target/handle.ts';
import type { CommandOptions } from '../types.ts';
import { KEEPING, type Keeping, type Kept, keeperOf } from './keeping.ts';
import { type InnerKeeper, OutputStore } from './store.ts';
import type { View } from './types.ts';
import { foldedView, viewOf } from './view.ts';
import { isOneFile, wholeOfResult } from './whole.ts';

let store: OutputStore | undefined;

/** The place of outputs whose caller has none. Its files go with this process. */
function ofProcess(): Keeping {
  store ??= new OutputStore();
  return { store, recall: false, earlier: [] };
}

/** Returns whether a command may have a view or a tap. A task from its start has neither. */
export function isUnfinished({ reduce, taps, mode }: CommandOptions): boolean {
  return ((reduce !== undefined && reduce !== 'off') || taps === 'on') && mode !== 'background';
}

/**
 * Resolves with the result of a command whose tap is still outside of the store, and whose view is still a draft. If
 * the view leaves out lines, the whole output is written first. If it cannot be written, or if the model could not read
 * it, nothing is left out.
 *
 * @param command the text that the shell got.
 */
export async function finished(
  event: EventOf<'result'>,
  command: string,
  options: CommandOptions,
): Promise<BashResult> {
  const { [KEEPING]: keeping = ofProcess() } = options as CommandOptions & Kept;
  const there = thereOf(options.target);
  const result = await withTap(resultOf(event, options), () => keeperOf(keeping.store) as InnerKeeper, there);
  const draft = result.view as NativeView | null;
  if (draft === null) return result;
  return { ...result, view: await viewOfResult(result, draft, command, keeping, there) };
}

function viewOfResult(
  result: BashResult,
  draft: NativeView,
  command: string,
  { store, recall }: Keeping,
  there: There | undefined,
): View | null | Promise<View | null> {
  // Lines that the model reads elsewhere are not missing.
  if (draft.elided.every(({ why }) => why === 'seen')) return viewOf(draft);
  const { stdout, stderr, exitCode, confinement } = result;
  const folded = () => foldedView({ stdout, stderr, command, exitCode });
  const whole = wholeOfResult(result, draft, there);
  // Where no model can recall lines, a command has to be able to read the file.
  const isInFile = confinement === null && (!there || isOneFile(whole));
  if (!recall && !isInFile) return folded();
  const keeper = keeperOf(store) as InnerKeeper;
  return keeper.keep(whole, draft, recall).then((view) => view ?? folded());
}
