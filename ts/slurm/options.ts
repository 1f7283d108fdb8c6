import { BashError } from 'agent-bash';
import { type OptionTableOf, PLAIN } from '../core/option-names.ts';
import { checkName, checkNames, checkWhole, checkWords } from '../provider/option-checks.ts';
import type { SlurmJobsOptions } from './types.ts';

const OPTIONS: OptionTableOf<SlurmJobsOptions> = { login: PLAIN, partition: PLAIN, args: PLAIN, minutes: PLAIN };

/** The options with their defaults. */
export interface JobSettings extends SlurmJobsOptions {
  args: string[];
}

/** Checks options. Throws `ERR_BASH_INVALID_ARG`. */
export function checkedSettings(options: SlurmJobsOptions): JobSettings {
  checkNames('slurmJobs', options, OPTIONS);
  const { login, partition, args = [], minutes } = options;
  if (partition !== undefined) checkName('partition', partition);
  checkWords('args', args, 0);
  checkWhole('minutes', minutes, 1, 525_600);
  if (login !== undefined && typeof (login as { readFile?: unknown } | null)?.readFile !== 'function') {
    throw new BashError('ERR_BASH_INVALID_ARG', 'login: it is not a target of `connect`');
  }
  return { ...options, args: [...args] };
}
