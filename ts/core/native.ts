import type {
  analyze,
  Bridge,
  checkAccess,
  commandOutline,
  confinementReach,
  decide,
  estimateTokens,
  facts,
  highlight,
  lineBehindView,
  NativeOwner,
  NativeRegistry,
  NativeSession,
  NativeTerminal,
  NativeText,
  noticeOfCut,
  ownName,
  readRecall,
  readRules,
  recalled,
  reduceText,
  removeAtEnd,
  removeLeft,
  removeNoMore,
  safetyRules,
  signalOf,
  undoable,
  warmShells,
} from '../../native.cjs';
import { BashError } from '../errors.ts';
import { hasFileName, loadBesideBundle } from './beside.ts';
import { createRequire } from './builtins.ts';

/** The exports of the addon. */
interface Native {
  Bridge: typeof Bridge;
  checkAccess: typeof checkAccess;
  NativeOwner: typeof NativeOwner;
  NativeRegistry: typeof NativeRegistry;
  NativeSession: typeof NativeSession;
  NativeTerminal: typeof NativeTerminal;
  NativeText: typeof NativeText;
  analyze: typeof analyze;
  commandOutline: typeof commandOutline;
  confinementReach: typeof confinementReach;
  decide: typeof decide;
  estimateTokens: typeof estimateTokens;
  facts: typeof facts;
  highlight: typeof highlight;
  lineBehindView: typeof lineBehindView;
  noticeOfCut: typeof noticeOfCut;
  ownName: typeof ownName;
  readRecall: typeof readRecall;
  readRules: typeof readRules;
  recalled: typeof recalled;
  reduceText: typeof reduceText;
  removeAtEnd: typeof removeAtEnd;
  removeLeft: typeof removeLeft;
  removeNoMore: typeof removeNoMore;
  safetyRules: typeof safetyRules;
  signalOf: typeof signalOf;
  undoable: typeof undoable;
  warmShells: typeof warmShells;
}

/** Throws at the import on Windows, where there is no bash to run and nothing of this package could work. */
export function refuseWindows(): void {
  if (process.platform === 'win32') {
    throw new BashError(
      'ERR_BASH_UNSUPPORTED',
      'agent-bash does not run on Windows itself: run Node inside WSL (https://aka.ms/wsl), where bash lives.',
    );
  }
}

let loaded: Native | undefined;

/** Loads the addon of this platform, once. Throws one sentence that names the places that were searched. */
export function loadNative(): Native {
  loaded ??= load();
  return loaded;
}

function load(): Native {
  try {
    return createRequire(__filename)('../native.cjs') as Native;
  } catch (error) {
    const bundled = isBundled(error);
    const beside = bundled ? (loadBesideBundle() as Native | null) : null;
    if (beside !== null) return beside;
    const missing = new BashError(
      'ERR_BASH_SPAWN',
      bundled
        ? 'agent-bash was bundled or copied without its addon: name it as external (esbuild: --external:agent-bash; Next.js: ' +
            'serverExternalPackages) and have all of it where the bundle runs, as docs/bundling.md of the package shows.'
        : `agent-bash found no addon for ${process.platform} ${process.arch}; it runs on Linux (x64 and arm64, glibc and musl) and ` +
            `macOS (x64 and arm64). Looked for: ${placesOf(error).join('; ')}. Install it again, with optional dependencies.`,
    );
    missing.cause = error;
    throw missing;
  }
}

// A bundled ES module has no file name of this package. In other bundles, the loader is no longer at its place.
function isBundled(error: unknown): boolean {
  return !hasFileName() || (error instanceof Error && /^Cannot find module '\.\.\/native/.test(error.message));
}

// The generated loader chains the failure at each place as the cause of the next. The loader's own words, and the
// places of unpublished builds, are left out.
function placesOf(error: unknown): string[] {
  const places = new Set<string>();
  for (let at = error; at instanceof Error; at = at.cause) {
    const line = at.message.split('\n', 1)[0] ?? '';
    const place = /^Cannot find module '([^']+)'/.exec(line)?.[1] ?? line;
    if (!/wasi|wasm|^Cannot find native binding/.test(place)) places.add(place);
  }
  return [...places].reverse();
}
