import { createRequire } from 'node:module';
import type { Bridge } from '../native.cjs';

/** What the addon exports. */
interface Native {
  Bridge: typeof Bridge;
}

const TARGETS = 'Linux (x64 and arm64, glibc and musl) and macOS (x64 and arm64)';

/** Loads the addon of this platform, or throws one sentence that says where it was looked for. */
export function loadNative(): Native {
  if (process.platform === 'win32') {
    throw new Error(
      'agent-bash does not run on Windows itself: run Node inside WSL (https://aka.ms/wsl), where bash lives.',
    );
  }
  try {
    return createRequire(__filename)('../native.cjs') as Native;
  } catch (error) {
    const platform = `${process.platform} ${process.arch}`;
    throw new Error(
      `agent-bash found no addon for ${platform}. It runs on ${TARGETS}. Looked for: ${placesOf(error).join('; ')}. ` +
        'Install it again without leaving optional dependencies out.',
      { cause: error },
    );
  }
}

// The generated loader chains what failed at each place as the cause of the next.
function placesOf(error: unknown): string[] {
  const places: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    const first = at.message.split('\n', 1)[0];
    if (first) places.push(first);
  }
  return places;
}
