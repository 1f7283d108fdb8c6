/** A host with a command in a job, which prints a line once it runs, until it is killed. */
import { bash, connect } from 'agent-bash';
import { slurmJobs } from 'agent-bash/slurm';

const jobs = slurmJobs({ minutes: 5 });
const place = await jobs.acquire({ affinity: null, signal: new AbortController().signal });
const target = await connect({ ...place.address, name: place.id });
await bash('echo runs; sleep 1000', {
  target,
  onOutput: ({ text }) => process.stdout.write(text),
  timeoutMs: 86_400_000,
});
