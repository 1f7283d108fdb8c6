import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasProgram, isRoot, packageRoot, testNeeding, until } from '../../support/index.ts';

const run = promisify(execFile);

/** A test with a Slurm cluster of its own. */
export const clusterTest = testNeeding(
  'root, and what `scripts/slurm` needs: slurmctld, slurmd, munged and the clients',
  isRoot && ['slurmctld', 'slurmd', 'munged', 'srun', 'ip', 'unshare', 'nsenter'].every(hasProgram),
  'linux',
);

const SCRIPT = join(packageRoot, 'scripts/slurm');
const CLIENTS = ['sbatch', 'scancel', 'scontrol', 'sinfo', 'squeue', 'srun'];

/** A Slurm cluster of two nodes, whose clients are in a directory for the PATH. */
export class SlurmCluster {
  /** The clients, which work from outside of the cluster's namespaces. */
  readonly clients: string;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.clients = join(directory, 'clients');
    const up = readFileSync(join(directory, 'up.pid'), 'utf8').trim();
    const [first = ''] = readFileSync(`/proc/${up}/task/${up}/children`, 'utf8').split(' ');
    mkdirSync(this.clients);
    for (const name of CLIENTS) {
      const enter = `SLURM_CONF=${directory}/slurm.conf exec nsenter -t ${first} --net --uts --ipc --mount`;
      writeFileSync(join(this.clients, name), `#!/bin/sh\n${enter} /usr/bin/${name} "$@"\n`);
      chmodSync(join(this.clients, name), 0o755);
    }
  }

  /** Starts a cluster in a directory. */
  static async start(directory: string): Promise<SlurmCluster> {
    await run(SCRIPT, ['up', directory]);
    return new SlurmCluster(directory);
  }

  /** Runs a program on the login node. Resolves with what it prints. */
  async run(...words: string[]): Promise<string> {
    // The clients of this directory work from outside only.
    const PATH = process.env.PATH?.replace(`${this.clients}:`, '');
    const { stdout } = await run(SCRIPT, ['exec', this.#directory, ...words], { env: { ...process.env, PATH } });
    return stdout.trim();
  }

  /** The states of the jobs that have not ended, as `ID STATE`. */
  async jobs(): Promise<string[]> {
    const text = await this.run('squeue', '--noheader', '--format=%i %T');
    return text === '' ? [] : text.split('\n');
  }

  /** Kills the srun of each connection of a job. */
  async killSteps(token: string): Promise<void> {
    await run('pkill', ['-9', '-f', `^/usr/bin/srun .*relay ${token}`]);
  }

  /** Ends the controller, which comes back by itself. */
  async restartController(): Promise<void> {
    await run(SCRIPT, ['restart', this.#directory]);
    await until(() =>
      this.run('scontrol', 'ping').then(
        (text) => text.includes('UP'),
        () => false,
      ),
    );
  }

  /** Kills the daemon of a node and all processes of a job there, as a node does that loses its power for a moment. */
  async killNode(name: string, job: string): Promise<void> {
    const ofJob = `grep -lazs "^SLURM_JOB_ID=${job}$" /proc/[0-9]*/environ | cut -d/ -f3`;
    const lines = [
      `pkill -9 -f "^slurmd -D -N ${name}$"`,
      `pkill -9 -f "^slurmstepd: .${job}[.]"`,
      `kill -9 $(${ofJob}) 2>/dev/null`,
      'true',
    ];
    await this.run('sh', '-c', lines.join('; '));
  }

  /** Ends all. */
  async end(): Promise<void> {
    await run(SCRIPT, ['down', this.#directory]);
  }
}
