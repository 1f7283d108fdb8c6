import { randomBytes } from 'node:crypto';
import type { ConnectOptions, TargetAddress } from 'agent-bash';
import { growingPauses, pause } from '../provider/pauses.ts';
import { errorLine, givenUp, placeError } from '../provider/place-error.ts';
import { callProgram, type ProgramAnswer } from '../provider/program-call.ts';
import { failureOf, neverBegins, type SlurmFailure } from './failures.ts';
import type { JobSettings } from './options.ts';
import { batchScript, connection, outside } from './scripts.ts';

/** Time a call may take: a busy controller is slow. */
const CALL_MS = 30_000;
/** Time in which failed calls are repeated, without their waiting for a turn. */
const RETRY_MS = 30_000;
/** The longest pause between two questions about a pending job. */
const MOST_MS = 5_000;

/** States of a job before it runs. */
const WAITING = new Set(['PENDING', 'CONFIGURING', 'REQUEUED', 'SUSPENDED', 'RESIZING', 'STAGE_IN']);

/** A job from its submission to its end. */
export class SlurmJob {
  readonly #token = randomBytes(16).toString('hex');
  /** Random, and so known before the job is: one whose submission was never answered can be cancelled. */
  readonly #name = `agent-bash-${this.#token}`;
  /** The job and the words that name it. `null`: no submission was answered. */
  #job: { id: string; words: string[]; clusters: string[] } | null = null;
  /** Whether a submission was not answered, and may have been taken all the same. */
  #doubtful = false;
  #state = 'it was not submitted yet';
  readonly #settings: JobSettings;

  constructor(settings: JobSettings) {
    this.#settings = settings;
  }

  get id(): string {
    return `slurm:${this.#job?.id}`;
  }

  /** How the batch step of the job is reached. */
  get address(): TargetAddress & ConnectOptions {
    const { login } = this.#settings;
    return { command: connection(this.#job?.words ?? [], this.#token), ...(login && { via: login }) };
  }

  /** Submits the job, and waits until it runs. Resolves with its end, in ms since the epoch. */
  async begin(signal: AbortSignal): Promise<number> {
    await this.#submit(signal);
    for (const wait of growingPauses(100, MOST_MS)) {
      const end = await this.#end(signal);
      if (end !== null) return end;
      if (!signal.aborted) await pause(wait, signal);
      if (signal.aborted) throw givenUp(this.#words, this.#state);
    }
    throw new Error('unreachable');
  }

  /**
   * Ends the job, also one whose submission was never answered and may still arrive. It is named by its random name: a
   * controller that has lost its state uses numbers of jobs again.
   */
  async cancel(): Promise<void> {
    if (!this.#job && !this.#doubtful) return;
    const words = ['scancel', '--quiet', ...(this.#job?.clusters ?? []), `--name=${this.#name}`];
    for (const wait of this.#job ? [0] : [0, 1_000, 3_000]) {
      await pause(wait);
      await this.#call(words, 'could not be cancelled', {
        accepts: ({ stderr }) => /Invalid job id|already complet/.test(stderr),
      });
    }
  }

  get #words(): string {
    const { partition } = this.#settings;
    return `a job${partition === undefined ? '' : ` of the partition "${partition}"`}`;
  }

  async #submit(signal: AbortSignal): Promise<void> {
    const { partition, args, minutes } = this.#settings;
    // Without the environment of this process: the job gets that of a login.
    const fixed = ['--export=NONE', '--chdir=/', '--output=/dev/null', '--error=/dev/null', '--no-requeue'];
    const where = partition === undefined ? [] : [`--partition=${partition}`];
    const asked = [...fixed, `--time=${minutes}`, ...where, ...args, '--parsable', `--job-name=${this.#name}`];
    const { stdout } = await this.#call(['sbatch', ...asked], 'could not be submitted', {
      stdin: batchScript(this.#token),
      signal,
      // A job that was submitted and not answered would be there twice.
      again: (failure) => {
        this.#doubtful ||= failure.passes;
        return failure.reason !== 'timeout';
      },
    });
    const [, id, cluster] = /^(\d+)(?:;(\S+))?$/m.exec(stdout) ?? [];
    if (id === undefined) {
      this.#doubtful = true;
      throw placeError('protocol', `${this.#words} was answered with something else by sbatch`, stdout);
    }
    const clusters = cluster === undefined ? [] : [`--clusters=${cluster}`];
    this.#job = { id, clusters, words: [...clusters, `--jobid=${id}`] };
    this.#state = 'it was submitted';
  }

  /** Returns when the job ends. `null`: it has not begun. */
  async #end(signal: AbortSignal): Promise<number | null> {
    const { id, clusters } = this.#job ?? { id: '', clusters: [] };
    // The clock there counts.
    const ask = 'SLURM_TIME_FORMAT=%s squeue --noheader --states=all --format="%T|%e|%r" "$@" && date +%s';
    const { stdout, stderr } = await this.#call(
      ['/bin/sh', '-c', ask, 'sh', ...clusters, `--jobs=${id}`],
      'could not be found',
      { signal, accepts: (answer) => /Invalid job id/.test(answer.stderr) },
    );
    const asked = Date.now();
    const [, state = '', end, reason = '', now] = /^([A-Z_]+)\|(\d*)[^|]*\|(.*)\n(?:.*\n)*(\d+)\n$/m.exec(stdout) ?? [];
    if (state === 'RUNNING' && end) return asked + (Number(end) - Number(now)) * 1_000;
    this.#state = `it is ${state || 'not known any more'}${reason && reason !== 'None' ? ` (${reason})` : ''}`;
    if (state !== 'RUNNING' && !WAITING.has(state)) {
      throw placeError(
        'lost',
        `${this.#words} has ended before it was used: ${this.#state}; see \`scontrol show job ${id}\``,
        stderr,
      );
    }
    if (state === 'PENDING' && neverBegins(reason)) {
      const remedy = `see \`scontrol show job ${id}\` and \`sinfo -o "%P %l"\`, and lower \`minutes\` or change \`args\``;
      throw placeError('no-place', `${this.#words} never begins: ${this.#state}; ${remedy}`);
    }
    return null;
  }

  /** Calls a program of Slurm until it succeeds. */
  async #call(words: string[], failing: string, call: JobCall = {}): Promise<ProgramAnswer> {
    let until = performance.now() + RETRY_MS;
    for (const wait of growingPauses(200, 2_000)) {
      const { stdin, signal, accepts, again = () => true } = call;
      const argv = outside(words);
      const answer = await callProgram({ argv, stdin, timeoutMs: CALL_MS, target: this.#settings.login });
      until += answer.waitedMs;
      if (answer.ok || accepts?.(answer)) return answer;
      const failure = failureOf(answer);
      const mayTry = again(failure) && failure.passes && !signal?.aborted;
      if (!mayTry || performance.now() + wait > until) {
        const said = answer.timedOut ? `${words[0]} had no answer in time` : errorLine(answer.stderr);
        throw placeError(failure.reason, `${this.#words} ${failing}: ${said}; ${failure.remedy}`, answer.stderr);
      }
      await pause(wait, signal);
    }
    throw new Error('unreachable');
  }
}

interface JobCall {
  stdin?: string;
  /** Ends the pauses between attempts, never an attempt: what it does would not be known. */
  signal?: AbortSignal;
  /** Whether this failure is an answer, too. */
  accepts?: (answer: ProgramAnswer) => boolean;
  /** Whether another attempt does no harm after this failure. */
  again?: (failure: SlurmFailure) => boolean;
}
