export { slurmJobs } from './provider.ts';
export type { SlurmJobsOptions } from './types.ts';
