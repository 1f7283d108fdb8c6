/** Limits and defaults, as the core defines them. Times are in ms. */
export interface Facts {
  request: {
    /** The longest time limit. */
    maxLimitMs: number;
    /** The time limit of each mode. */
    modeLimitsMs: { default: number; slow: number; background: number };
    /** The limit of mode "default" if the command then moves to the background. */
    movingLimitMs: number;
    defaultGraceMs: number;
    maxGraceMs: number;
    defaultSnapshotMs: number;
  };
  run: {
    /** The time between the end of the grace and the result. */
    hardBoundMs: number;
  };
  supervise: {
    /** The longest time for reading the rest of the output from the pipes. */
    drainWholeMs: number;
  };
}
