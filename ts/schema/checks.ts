// Made from crates/runner/src/request/raw_options.rs by scripts/options.mjs: `npm run options`.

import type { Checks } from '../core/checks.ts';
import { fields, flagOr, oneOf, path, ranged, strings, type, wordOr } from '../core/checks.ts';
import { ACTOR } from '../ledger/options.ts';
import { INHERIT_ENV, RC_FILE, SHELL, TRUNCATE } from '../option-checks.ts';
import type { BashLimits, NativeOptions, ReuseOptions, SanitizeOptions, SpillOptions, UndoOptions } from './types.ts';

/** The check of each option. */
export const NATIVE_CHECKS: Checks<NativeOptions> = {
  actor: ACTOR,
  args: strings,
  checks: strings,
  evidence: oneOf('off', 'status', 'tree'),
  fresh: type('boolean'),
  graceMs: ranged(0, 15000),
  idleTimeoutMs: ranged(1, 86400000),
  inheritEnv: INHERIT_ENV,
  ledger: type('boolean'),
  limits: fields<BashLimits>({
    cpuSeconds: type('number'),
    fileBytes: ranged(1),
    memoryBytes: ranged(65536),
    openFiles: ranged(1),
    processes: ranged(1),
  }),
  merge: type('boolean'),
  mode: oneOf('default', 'slow', 'background'),
  onTimeout: oneOf('kill', 'background'),
  receipt: oneOf('off', 'watch', 'exact'),
  reuse: wordOr(
    ['off', 'verified'],
    fields<ReuseOptions>({ commands: strings, maxAgeMs: ranged(1), storeBytes: ranged(1) }),
  ),
  sanitize: flagOr(fields<SanitizeOptions>({ ansi: type('boolean'), progress: oneOf('collapse', 'keep') })),
  shell: SHELL,
  snapshot: flagOr(RC_FILE),
  snapshotIntervalMs: ranged(10, 60000),
  spill: flagOr(
    fields<SpillOptions>({
      allocate: type('function'),
      dir: type('string'),
      maxBytes: ranged(1),
      retentionMs: ranged(0),
    }),
  ),
  taps: oneOf('off', 'on'),
  timeoutMs: ranged(1, 86400000),
  truncate: TRUNCATE,
  undo: wordOr(
    ['off', 'risky', 'always'],
    fields<UndoOptions>({
      dir: path,
      maxBytes: ranged(1),
      maxFileBytes: ranged(1),
      require: type('boolean'),
      storeBytes: ranged(1),
      when: oneOf('risky', 'always'),
    }),
  ),
  warm: type('boolean'),
};
