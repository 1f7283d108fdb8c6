import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, connect } from 'agent-bash';
import { slurmJobs } from 'agent-bash/slurm';
import { describe, expect, test } from 'vitest';
import { onPath, request, scripted } from '../../fleets/scripted.ts';
import { finished, rejection, state, until } from '../../support/index.ts';

/**
 * A Slurm of one node, which is this machine: sbatch starts the script, and srun starts what follows its options. The
 * job ends by scancel, as srun does when it is killed, or with the directory of the programs, which is its home.
 */
const SLURM = {
  sbatch: 'cat >script; env -i HOME=$PWD PATH=$PATH setsid sh script </dev/null >/dev/null 2>&1 & echo $! >pid; echo 7',
  squeue: 'kill -0 `cat pid` && echo "RUNNING|`date -d "+5 minutes" +%s`|None"',
  srun: 'until [ "$1" = /bin/sh ]; do shift; done; exec "$@"',
  scancel: 'kill `cat pid` 2>/dev/null; true',
};

/** A provider whose programs do this. */
function provider(programs: Partial<typeof SLURM> = {}, options: object = {}) {
  const script = scripted({ ...SLURM, ...programs });
  onPath(script.directory);
  const path = join(script.directory, 'pid');
  const pid = () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0);
  const runs = () => existsSync(`/proc/${pid()}`);
  return { ...script, jobs: slurmJobs({ minutes: 5, ...options }), runs };
}

/** The directory in which a job and its connections meet. */
const meetingPlace = (address: unknown) => `/tmp/agent-bash-${(address as { command: string[] }).command.at(-1)}`;

describe('a job', () => {
  test('is submitted without the environment of this process, and found by its random name', async () => {
    const { jobs, calls } = provider({}, { partition: 'gpu', args: ['--mem=1G', '--output=log'] });
    const place = await jobs.acquire(request());
    expect(place.id).toBe('slurm:7');
    expect(Math.abs((place.expiresAt ?? 0) - Date.now() - 300_000)).toBeLessThan(5_000);
    expect(calls()[0]).toMatch(
      /^sbatch --export=NONE .*--time=5 --partition=gpu --mem=1G --output=log --parsable --job-name=agent-bash-\w{32}$/,
    );
    expect(calls()[1]).toContain('--jobs=7');
    await jobs.release(place.id, { broken: false });
    await jobs.release(place.id, { broken: false });
    expect(calls().slice(2)).toStrictEqual([expect.stringMatching(/^scancel --quiet --name=agent-bash-\w{32}$/)]);
    await until(() => !existsSync(meetingPlace(place.address)), 'nothing of it is left');
  });

  test('knows nothing of a job in which this process runs', async () => {
    for (const name of ['SLURM_JOB_ID', 'SBATCH_PARTITION', 'SRUN_CPUS_PER_TASK', 'SLURM_CONF']) {
      process.env[name] = '/x';
      finished(() => {
        delete process.env[name];
      });
    }
    const { jobs, directory } = provider({ sbatch: `env >variables; ${SLURM.sbatch}` });
    await jobs.acquire(request());
    const text = readFileSync(join(directory, 'variables'), 'utf8');
    expect(text.match(/^S(?:LURM|BATCH|RUN)_.*/gm)).toStrictEqual(['SLURM_CONF=/x']);
  });

  test('runs commands in its batch step, and its end is that of the program there', async () => {
    const { jobs, runs } = provider();
    const place = await jobs.acquire(request());
    const target = await connect({ ...place.address, name: place.id });
    finished(() => target.close());
    expect(await bash('cat; echo err >&2; exit 7', { target, stdin: 'in' })).toMatchObject({
      stdout: 'in',
      stderr: 'err\n',
      exitCode: 7,
      target: 'slurm:7',
    });
    const bytes = new Uint8Array(300_000).map((_, index) => (index * 7_919) >> 3);
    const path = join(process.cwd(), 'target', 'slurm-bytes');
    finished(() => rmSync(path, { force: true }));
    await target.writeFile(path, bytes);
    expect(await target.readFile(path)).toStrictEqual(bytes);
    await target.close();
    await until(() => !runs(), 'the job has ended');
    expect(existsSync(meetingPlace(place.address))).toBe(false);
  });

  test('goes on when a connection is killed, and nothing runs twice', async () => {
    const { jobs, directory } = provider({ srun: `echo $$ >step; ${SLURM.srun}` });
    const place = await jobs.acquire(request());
    await using target = await connect({ ...place.address, name: place.id });
    const path = join(directory, 'log');
    const ran = bash(`echo one | tee -a ${path}; until [ -e ${directory}/go ]; do sleep 0.02; done; echo two; exit 9`, {
      target,
    });
    await until(() => existsSync(path));
    for (let turn = 0; turn < 3; turn++) {
      const cut = state(target, 'disconnected');
      process.kill(Number(readFileSync(join(directory, 'step'), 'utf8')), 'SIGKILL');
      await cut;
      await bash(`echo ${turn} >>${path}`, { target });
    }
    writeFileSync(join(directory, 'go'), '');
    expect(await ran).toMatchObject({ exitCode: 9, stdout: 'one\ntwo\n' });
    expect(readFileSync(path, 'utf8')).toBe('one\n0\n1\n2\n');
  });

  test('ends with the lease', async () => {
    const { jobs, runs, directory } = provider({ srun: `[ -e down ] && exit 1; echo $$ >step; ${SLURM.srun}` });
    const place = await jobs.acquire(request());
    const target = await connect({ ...place.address, name: place.id, detachMs: 1_000 });
    finished(() => target.close());
    writeFileSync(join(directory, 'down'), '');
    process.kill(Number(readFileSync(join(directory, 'step'), 'utf8')), 'SIGKILL');
    await state(target, 'lost');
    await until(() => !runs(), 'the job has ended');
    expect(existsSync(meetingPlace(place.address))).toBe(false);
  });

  test('stays when a connection fails, for the next attempt', async () => {
    const { jobs } = provider({
      srun: `[ \`again steps\` = 1 ] && set -- /bin/sh -c "$4" relay "$6" /bin/sh -c "echo no >&2; exit 3"; ${SLURM.srun}`,
    });
    const place = await jobs.acquire(request());
    const error = await rejection(() => connect({ ...place.address, name: place.id }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET' });
    await using target = await connect({ ...place.address, name: place.id });
    expect(await bash('exit 3', { target })).toMatchObject({ exitCode: 3 });
  });
});

describe('a pending job', () => {
  const pending = 'echo "PENDING|N/A|Resources"';

  test('is waited for', async () => {
    const { jobs, calls } = provider({ squeue: `[ \`again asked\` -lt 3 ] && { ${pending}; exit; }; ${SLURM.squeue}` });
    await jobs.acquire(request());
    expect(calls().filter((call) => call.startsWith('squeue'))).toHaveLength(3);
  });

  test('is cancelled on abort', async () => {
    const { jobs, calls } = provider({ squeue: pending });
    const given = new AbortController();
    const acquired = rejection(() => jobs.acquire(request(given.signal)));
    await until(() => calls().length > 2);
    given.abort();
    expect(await acquired).toMatchObject({
      code: 'ABORT_ERR',
      message: expect.stringContaining('PENDING (Resources)'),
    });
    expect(calls().at(-1)).toMatch(/^scancel --quiet --name=agent-bash-\w{32}$/);
  });

  test('is cancelled on abort amid its submission', async () => {
    const { jobs, calls } = provider({ sbatch: 'sleep 0.5; echo "7;east"', squeue: pending });
    const given = new AbortController();
    const acquired = rejection(() => jobs.acquire(request(given.signal)));
    await until(() => calls().length === 1);
    given.abort();
    expect(await acquired).toMatchObject({ code: 'ABORT_ERR' });
    expect(calls().at(-1)).toMatch(/^scancel --quiet --clusters=east --name=agent-bash-\w{32}$/);
  });

  test('whose submission was not answered is cancelled by its name', async () => {
    const { jobs, calls } = provider({ sbatch: 'echo "sbatch: error: Socket timed out on send/recv" >&2; exit 1' });
    expect(await rejection(() => jobs.acquire(request()))).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'timeout',
    });
    expect(calls().filter((call) => call.startsWith('sbatch'))).toHaveLength(1);
    expect(calls().at(-1)).toMatch(/^scancel --quiet --name=agent-bash-\w{32}$/);
  });
});

const said = (text: string) => ({ sbatch: `echo "sbatch: error: ${text}" >&2; exit 1` });
const queued = (line: string) => ({ squeue: `echo "${line}"` });

describe('what goes wrong', () => {
  test.each([
    ['a partition that is missing', said('invalid partition specified: x'), 'unreachable', 'sinfo'],
    [
      'an account that is missing',
      said('Batch job submission failed: Invalid account or account/partition'),
      'auth',
      'args',
    ],
    [
      'a time limit that is too long',
      said('Requested time limit is invalid (missing or exceeds some limit)'),
      'no-place',
      'minutes',
    ],
    ['resources that are not there', said('Requested node configuration is not available'), 'no-place', 'args'],
    ['sbatch that is missing', { sbatch: 'exec no-such-program' }, 'unreachable', 'login'],
    ['an answer that is none', { sbatch: 'echo thanks' }, 'protocol', 'something else'],
    ['a job that never begins', queued('PENDING|N/A|PartitionTimeLimit'), 'no-place', 'sinfo'],
    ['a job that failed', queued('FAILED|1|NonZeroExitCode'), 'lost', 'FAILED (NonZeroExitCode)'],
    ['a job whose node failed', queued('NODE_FAIL|1|None'), 'lost', 'NODE_FAIL'],
    [
      'a job that is gone',
      { squeue: 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1' },
      'lost',
      'scontrol',
    ],
  ] as const)('%s is told', async (_, programs, reason, remedy) => {
    const { jobs, calls } = provider(programs);
    const error = await rejection(() => jobs.acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, stderr: expect.any(String) });
    expect(error.message).toMatch(/^a job /);
    expect(error.message).toContain(remedy);
    const isCancelled = calls().some((call) => call.startsWith('scancel'));
    expect(isCancelled).toBe(!error.message.includes('could not be submitted'));
  });

  test('a controller that is restarted passes', async () => {
    const { jobs } = provider({
      sbatch: `[ \`again submitted\` -lt 3 ] && { echo "Unable to contact slurm controller (connect failure)" >&2; exit 1; }; ${SLURM.sbatch}`,
    });
    await jobs.acquire(request());
  });
});

test.each([
  [{ minutes: 0 }, 'minutes'],
  [{ minutes: 1.5 }, 'minutes'],
  [{}, 'minutes'],
  [{ minutes: 1, partition: '-x' }, 'partition'],
  [{ minutes: 1, args: '--mem=1G' }, 'args'],
  [{ minutes: 1, login: 'login1' }, 'login'],
  [{ minutes: 1, arguments: [] }, 'arguments'],
])('%j is refused', (options, name) => {
  expect(() => slurmJobs(options as never)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
  expect(() => slurmJobs(options as never)).toThrow(name);
});
