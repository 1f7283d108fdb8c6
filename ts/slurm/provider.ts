import type { TargetProvider } from 'agent-bash';
import { givenUp } from '../provider/place-error.ts';
import { SlurmJob } from './job.ts';
import { checkedSettings } from './options.ts';
import type { SlurmJobsOptions } from './types.ts';

/**
 * Makes places for a `TargetPool` by Slurm: each is a job, whose batch step runs the commands. It ends with `release`,
 * with a goodbye of this process, with the lease of its target, and after `minutes`. A pending job is cancelled when
 * nobody waits for it any longer. `acquire` rejects with `ERR_BASH_TARGET` and its `reason`, and leaves no job.
 *
 * Throws `ERR_BASH_INVALID_ARG` for options that are wrong or do not exist.
 *
 * @example new TargetPool({ provider: slurmJobs({ partition: 'debug', minutes: 60 }), max: 4 });
 */
export function slurmJobs(options: SlurmJobsOptions): TargetProvider {
  const settings = checkedSettings(options);
  const jobs = new Map<string, SlurmJob>();
  return {
    async acquire({ signal }) {
      if (signal.aborted) throw givenUp('a job', 'it was not submitted yet');
      const job = new SlurmJob(settings);
      try {
        const expiresAt = await job.begin(signal);
        jobs.set(job.id, job);
        return { id: job.id, address: job.address, expiresAt };
      } catch (error) {
        // Its time limit ends what cannot be cancelled, or before it the wait of its script.
        await job.cancel().catch(() => {});
        const told = (error as { code?: string }).code === 'ABORT_ERR' || !signal.aborted;
        throw told ? error : givenUp('a job', (error as Error).message);
      }
    },
    async release(id) {
      const job = jobs.get(id);
      jobs.delete(id);
      await job?.cancel();
    },
  };
}
