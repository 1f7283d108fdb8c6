import type {
  analyze,
  Bridge,
  decide,
  NativeRegistry,
  NativeSession,
  NativeTerminal,
  NativeText,
  removeAtEnd,
  removeNoMore,
  safetyRules,
  warmShells,
} from '../native.cjs';
import { createRequire } from './builtins';
import { BashError } from './errors';

/** What the addon exports. */
interface Native {
  Bridge: typeof Bridge;
  NativeRegistry: typeof NativeRegistry;
  NativeSession: typeof NativeSession;
  NativeTerminal: typeof NativeTerminal;
  NativeText: typeof NativeText;
  analyze: typeof analyze;
  decide: typeof decide;
  removeAtEnd: typeof removeAtEnd;
  removeNoMore: typeof removeNoMore;
  safetyRules: typeof safetyRules;
  warmShells: typeof warmShells;
}

/** Refuses where there is no bash to run, at the import: nothing of this package could work there. */
export function refuseWindows(): void {
  if (process.platform === 'win32') {
    throw new BashError(
      'ERR_BASH_UNSUPPORTED',
      'agent-bash does not run on Windows itself: run Node inside WSL (https://aka.ms/wsl), where bash lives.',
    );
  }
}

/** Loads the addon of this platform, or throws one sentence that says where it was looked for. */
export function loadNative(): Native {
  try {
    return createRequire(__filename)('../native.cjs') as Native;
  } catch (error) {
    const missing = new BashError(
      'ERR_BASH_SPAWN',
      isBundled(error)
        ? 'agent-bash was bundled or copied without its addon: name it as external (esbuild: --external:agent-bash; Next.js: ' +
            'serverExternalPackages) and have all of it where the bundle runs, as docs/bundling.md of the package shows.'
        : `agent-bash found no addon for ${process.platform} ${process.arch}; it runs on Linux (x64 and arm64, glibc and musl) and ` +
            `macOS (x64 and arm64). Looked for: ${placesOf(error).join('; ')}. Install it again, with optional dependencies.`,
    );
    missing.cause = error;
    throw missing;
  }
}

// An ES module that a bundler has made has no file name of ours; in all others our loader is not where it was.
function isBundled(error: unknown): boolean {
  return (
    typeof __filename !== 'string' ||
    (error instanceof Error && /^Cannot find module '\.\.\/native/.test(error.message))
  );
}

// The generated loader chains what failed at each place as the cause of the next. Its own words, and the places of builds
// that we do not publish, help nobody.
function placesOf(error: unknown): string[] {
  const places = new Set<string>();
  for (let at = error; at instanceof Error; at = at.cause) {
    const line = at.message.split('\n', 1)[0] ?? '';
    const place = /^Cannot find module '([^']+)'/.exec(line)?.[1] ?? line;
    if (!/wasi|wasm|^Cannot find native binding/.test(place)) places.add(place);
  }
  return [...places].reverse();
}
