import { createRequire } from 'node:module';
import type { analyze, Bridge, decide, NativeRegistry, NativeSession, safetyRules, warmShells } from '../native.cjs';
import { BashError } from './errors';

/** What the addon exports. */
interface Native {
  Bridge: typeof Bridge;
  NativeRegistry: typeof NativeRegistry;
  NativeSession: typeof NativeSession;
  analyze: typeof analyze;
  decide: typeof decide;
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
      `agent-bash found no addon for ${process.platform} ${process.arch}; it runs on Linux (x64 and arm64, glibc and musl) and ` +
        `macOS (x64 and arm64). Looked for: ${placesOf(error).join('; ')}. Install it again, with optional dependencies.`,
    );
    missing.cause = error;
    throw missing;
  }
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
