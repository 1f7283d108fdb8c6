// Made from crates/runner/src/request/raw_options.rs by scripts/options.mjs: `npm run options`.

import type { Checks } from '../core/checks.ts';
import { fields, flagOr, oneOf, path, ranged, strings, type, wholeNumber, wordOr } from '../core/checks.ts';
import { ACTOR } from '../ledger/options.ts';
import { INHERIT_ENV, RC_FILE, SHELL, TRUNCATE } from '../option-checks.ts';
import type { BashLimits, NativeOptions, ReuseOptions, SanitizeOptions, SpillOptions, UndoOptions } from './types.ts';

/** The check of each option. */
export const NATIVE_CHECKS: Checks<NativeOptions> = {
  args: strings,
  inheritEnv: INHERIT_ENV,
  mode: oneOf('default', 'slow', 'background'),
  timeoutMs: ranged(1, 86400000),
  idleTimeoutMs: ranged(1, 86400000),
  onTimeout: oneOf('kill', 'background'),
  graceMs: ranged(0, 15000),
  merge: type('boolean'),
  truncate: TRUNCATE,
  sanitize: flagOr(fields<SanitizeOptions>({ ansi: type('boolean'), progress: oneOf('collapse', 'keep') })),
  spill: flagOr(
    fields<SpillOptions>({
      dir: type('string'),
      maxBytes: ranged(1),
      retentionMs: ranged(0),
      allocate: type('function'),
    }),
  ),
  snapshotIntervalMs: ranged(10, 60000),
  shell: SHELL,
  snapshot: flagOr(RC_FILE),
  warm: type('boolean'),
  limits: fields<BashLimits>({
    cpuSeconds: type('number'),
    memoryBytes: ranged(65536),
    processes: ranged(1),
    openFiles: ranged(1),
    fileBytes: ranged(1),
  }),
  receipt: oneOf('off', 'watch', 'exact'),
  undo: wordOr(
    ['off', 'risky', 'always'],
    fields<UndoOptions>({
      when: oneOf('risky', 'always'),
      require: type('boolean'),
      maxFileBytes: wholeNumber(1),
      maxBytes: wholeNumber(1),
      storeBytes: wholeNumber(1),
      dir: path,
    }),
  ),
  evidence: oneOf('off', 'status', 'tree'),
  taps: oneOf('off', 'on'),
  checks: strings,
  reuse: wordOr(
    ['off', 'verified'],
    fields<ReuseOptions>({ commands: strings, maxAgeMs: ranged(1), storeBytes: ranged(1) }),
  ),
  fresh: type('boolean'),
  ledger: type('boolean'),
  actor: ACTOR,
};
