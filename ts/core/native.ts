import type {
  analyze,
  Bridge,
  checkAccess,
  commandOutline,
  confinementReach,
  decide,
  estimateTokens,
  facts,
  hasUnreadInput,
  highlight,
  hostsDirectory,
  lineBehindView,
  NativeLedger,
  NativeOwner,
  NativePool,
  NativeRegistry,
  NativeSession,
  NativeSessionThere,
  NativeTarget,
  NativeTerminal,
  NativeText,
  noticeOfCut,
  offers,
  ownName,
  readRecall,
  readRules,
  readTests,
  recalled,
  redact,
  reduceText,
  removeAtEnd,
  removeLeft,
  removeNoMore,
  safetyRules,
  signalOf,
  targetId,
  undoable,
  warmShells,
} from '../../native.cjs';
import { BashError } from '../errors.ts';
import { loadAddon } from './addon.ts';

/** The exports of the addon. */
interface Native {
  Bridge: typeof Bridge;
  checkAccess: typeof checkAccess;
  NativeLedger: typeof NativeLedger;
  NativeOwner: typeof NativeOwner;
  NativeRegistry: typeof NativeRegistry;
  NativeSession: typeof NativeSession;
  NativeSessionThere: typeof NativeSessionThere;
  NativePool: typeof NativePool;
  NativeTarget: typeof NativeTarget;
  NativeTerminal: typeof NativeTerminal;
  NativeText: typeof NativeText;
  analyze: typeof analyze;
  commandOutline: typeof commandOutline;
  confinementReach: typeof confinementReach;
  decide: typeof decide;
  estimateTokens: typeof estimateTokens;
  facts: typeof facts;
  hasUnreadInput: typeof hasUnreadInput;
  highlight: typeof highlight;
  hostsDirectory: typeof hostsDirectory;
  lineBehindView: typeof lineBehindView;
  noticeOfCut: typeof noticeOfCut;
  offers: typeof offers;
  ownName: typeof ownName;
  readRecall: typeof readRecall;
  readRules: typeof readRules;
  readTests: typeof readTests;
  recalled: typeof recalled;
  redact: typeof redact;
  reduceText: typeof reduceText;
  removeAtEnd: typeof removeAtEnd;
  removeLeft: typeof removeLeft;
  removeNoMore: typeof removeNoMore;
  safetyRules: typeof safetyRules;
  signalOf: typeof signalOf;
  targetId: typeof targetId;
  undoable: typeof undoable;
  warmShells: typeof warmShells;
}

/** Throws at the import on Windows, where there is no bash to run and nothing of this package could work. */
export function refuseWindows(): void {
  if (process.platform === 'win32') {
    throw new BashError(
      'ERR_BASH_UNSUPPORTED',
      'agent-bash does not run on Windows itself: run Node inside WSL 2 (https://aka.ms/wsl), where bash lives.',
    );
  }
}

let loaded: Native | undefined;

/** Loads the addon of this platform, once. Throws one sentence that says what is wrong. */
export function loadNative(): Native {
  loaded ??= loadAddon() as Native;
  return loaded;
}
