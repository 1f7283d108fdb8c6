import type { BashToolInput } from '../../tool/types.ts';

/**
 * Returns a call with the keys of our tool. A call of `Bash` that an alias has led here has those of Claude Code:
 * `timeout` in ms, `run_in_background`, and a `description` for people. Our keys win. `dangerouslyDisableSandbox` stays
 * if it is set, and so is named as ignored in a note: the host alone decides about the confinement.
 */
export function inputOf(given: Record<string, unknown>): BashToolInput {
  const { timeout, run_in_background: background, description, dangerouslyDisableSandbox: outside, ...input } = given;
  return {
    ...input,
    ...(timeout !== undefined && input.timeout_ms == null && { timeout_ms: timeout }),
    ...(background === true && input.mode == null && { mode: 'background' }),
    ...(outside === true && { dangerouslyDisableSandbox: outside }),
  } as BashToolInput;
}
