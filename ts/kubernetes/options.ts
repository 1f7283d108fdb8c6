import { type OptionTableOf, PLAIN } from '../core/option-names.ts';
import { checkName, checkNames, checkWhole, checkWords } from '../provider/option-checks.ts';
import type { AgentSandboxesOptions } from './types.ts';

const OPTIONS: OptionTableOf<AgentSandboxesOptions> = {
  warmPool: PLAIN,
  namespace: PLAIN,
  context: PLAIN,
  container: PLAIN,
  program: PLAIN,
  leaseMs: PLAIN,
};

/** The options with their defaults. */
export interface SandboxSettings extends AgentSandboxesOptions {
  program: string[];
  leaseMs: number;
}

/** Checks options. Throws `ERR_BASH_INVALID_ARG`. */
export function checkedSettings(options: AgentSandboxesOptions): SandboxSettings {
  checkNames('agentSandboxes', options, OPTIONS);
  checkName('warmPool', options.warmPool);
  for (const name of ['namespace', 'context', 'container'] as const) {
    if (options[name] !== undefined) checkName(name, options[name]);
  }
  const { program = ['kubectl'], leaseMs = 600_000 } = options;
  checkWords('program', program, 1);
  checkWhole('leaseMs', leaseMs, 5_000, 86_400_000);
  return { ...options, program: [...program], leaseMs };
}
