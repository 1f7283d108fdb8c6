import type { Target } from 'agent-bash';

/** Options of `slurmJobs`. */
export interface SlurmJobsOptions {
  /**
   * The login node, on which `sbatch`, `squeue`, `srun` and `scancel` run.
   *
   * @default this machine
   * @example slurmJobs({ login: await connect({ ssh: 'login1' }), minutes: 60 });
   */
  login?: Target | undefined;
  /**
   * The partition of the jobs.
   *
   * @default as sbatch finds it
   * @example slurmJobs({ partition: 'gpu', minutes: 60 });
   */
  partition?: string | undefined;
  /**
   * Further arguments of sbatch, such as resources. They must not come from a model.
   *
   * @default []
   * @example slurmJobs({ args: ['--cpus-per-task=8', '--mem=16G'], minutes: 60 });
   */
  args?: string[] | undefined;
  /**
   * The time limit of a job, in minutes, a whole number from 1 to 525,600. It ends then, whatever runs in it.
   *
   * @example slurmJobs({ minutes: 60 });
   */
  minutes: number;
}
