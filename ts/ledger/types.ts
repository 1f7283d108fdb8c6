import type { BashUsage, ChangeCounts, Receipt } from '../../native.cjs';
import type { Evidence } from '../evidence/types.ts';
import type { Verdict } from '../safety/analysis.ts';

/** The parties that ask for a command. Every field may be left out. Each keeps its first 200 characters. */
export interface Actor {
  /**
   * The name of the agent.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { agent: 'reviewer' } });
   */
  agent?: string | undefined;
  /**
   * The conversation in which the agent works.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { session: 'a81f' } });
   */
  session?: string | undefined;
  /**
   * The call of a tool that asks for the command.
   *
   * @default none; a tool fills in the id of its call
   * @example await bash('make', { ledger: true, actor: { toolCallId: 'call_7' } });
   */
  toolCallId?: string | undefined;
  /**
   * The person for whom the agent works.
   *
   * @default none
   * @example await bash('make', { ledger: true, actor: { user: 'ada' } });
   */
  user?: string | undefined;
}

/** The end of a run, or that it goes on. */
export type LedgerState =
  | 'running'
  | 'exited'
  | 'signaled'
  | 'timed-out'
  | 'aborted'
  | 'backgrounded'
  | 'refused'
  | 'lost';

/** One run, as the ledger has it. */
export interface LedgerEntry {
  /** `BashResult.runId`. */
  runId: string;
  /** Unix time, ms. */
  startedAt: number;
  /** Unix time, ms; `null` while the run goes on, and if its end is not known. */
  endedAt: number | null;
  /**
   * As in `BashResult`, and also: `'running'`, `'backgrounded'` for a task that runs, `'refused'` for a command that
   * was not started, `'lost'` for a run whose end is not known because its helper was killed.
   */
  state: LedgerState;
  /** The command, with `[redacted]` in place of each secret. The part beyond a record of 32 KiB is cut off. */
  command: string;
  /** Whether a secret was taken out of the command. */
  redacted: boolean;
  /** The absolute directory in which the command started. */
  cwd: string;
  /** The process that ran the command. */
  host: {
    pid: number;
    /** The program and its script, such as `node agent.js`. */
    program: string;
  };
  /** The parties that asked for the command; `null` if none was named. */
  actor: Actor | null;
  /** The strictest finding of the safety engine; `'allow'` if there was none, or the command was not judged. */
  verdict: Verdict;
  /** The rules of all findings, sorted. */
  rules: string[];
  /** Where a person has decided about the command, `'host'` or `'page'`; `null` if no person was asked. */
  decidedBy: string | null;
  /** The profile of the confinement; `null` if the command was not confined. */
  confinement: string | null;
  /** As in `BashResult`; `null` while the run goes on, if it was refused, and if its end is not known. */
  exitCode: number | null;
  /** The signal that ended the shell; `null` if none did. */
  signal: string | null;
  /** Time to the exit of the shell, in ms; `null` where `exitCode` is. */
  durationMs: number | null;
  /** As in `BashResult`; `null` where `durationMs` is. */
  usage: BashUsage | null;
  /** The silence that was the limit of the run (`idleTimeoutMs`); `null` if it was not. */
  silence: {
    /** The longest silence that was allowed, in ms. */
    ms: number;
    /**
     * What the command waited for then, in words, without its output and the arguments of programs; `null` if it is
     * not known to have waited.
     */
    waitedFor: string | null;
  } | null;
  /** The numbers of changed files, and how complete the receipt is; `null` without a receipt. */
  receipt: (ChangeCounts & { state: Receipt['state'] }) | null;
  /** The verdict of its evidence; `null` without evidence, and for a task while it runs. */
  evidence: Evidence['verdict'] | null;
  /** The run whose result was given again in place of this one; `null` if the command ran. */
  reused: string | null;
  /** The file with the whole output, or the log of the task; `null` if there is none. It may be removed by now. */
  outputPath: string | null;
  /** The task that the run is, or has become; `null` if it is none. */
  taskId: string | null;
  /** The target that ran the command, whose paths these are; `null`: this machine. */
  target: string | null;
  /** The draft in which the command ran, or that it committed or discarded; `null`: none. */
  draft: string | null;
  /**
   * What the secrets of its confinement were used for, by secret and host; `[]` if they were not used. A task has it
   * from its end on. The requests are in `BashResult.confinement.secrets` alone.
   */
  secrets: {
    /** The name of the secret. */
    name: string;
    /** The host, with its port unless that is 443. */
    host: string;
    /** The number of requests. */
    count: number;
    /** The number of these into which the secret was not put. */
    refused: number;
  }[];
}

/** The entries that `readLedger` returns. Each filter that is given has to fit. */
export interface ReadLedgerOptions {
  /**
   * Runs that started at this moment or later: a `Date`, or Unix time in ms.
   *
   * @default all
   * @example readLedger({ since: Date.now() - 3_600_000 });
   */
  since?: number | Date | undefined;
  /**
   * Runs that started before this moment: a `Date`, or Unix time in ms.
   *
   * @default all
   * @example readLedger({ until: new Date('2026-01-31') });
   */
  until?: number | Date | undefined;
  /**
   * Runs that started in this directory or below. A relative path is resolved against `process.cwd()`.
   *
   * @default all
   * @example readLedger({ cwd: '/srv/project' });
   */
  cwd?: string | undefined;
  /**
   * Runs of the agent with exactly this name.
   *
   * @default all
   * @example readLedger({ agent: 'reviewer' });
   */
  agent?: string | undefined;
  /**
   * Whether only failed runs count: runs with an exit code other than 0, and runs that were signaled, timed-out,
   * aborted, refused or lost.
   *
   * @default false
   * @example readLedger({ failed: true });
   */
  failed?: boolean | undefined;
  /**
   * Runs whose receipt lists this path or one below. A relative path is resolved against `process.cwd()`. A run without
   * a receipt never fits.
   *
   * @default all
   * @example readLedger({ changed: 'src' });
   */
  changed?: string | undefined;
  /**
   * Runs whose command contains this text. Case matters.
   *
   * @default all
   * @example readLedger({ text: 'npm publish' });
   */
  text?: string | undefined;
  /**
   * The run with this id.
   *
   * @default all
   * @example readLedger({ runId: result.runId });
   */
  runId?: string | undefined;
  /**
   * The largest number of entries, a whole number of at least 1.
   *
   * @default all
   * @example readLedger({ limit: 20 });
   */
  limit?: number | undefined;
  /**
   * Whether the oldest entry comes first, and then entries as they are written, until `signal` aborts. From then on a
   * run is returned when it starts, and again when it has ended.
   *
   * @default false
   * @example for await (const entry of readLedger({ follow: true, signal })) show(entry);
   */
  follow?: boolean | undefined;
  /**
   * Ends the iteration, without an error.
   *
   * @default none
   * @example readLedger({ follow: true, signal: AbortSignal.timeout(60_000) });
   */
  signal?: AbortSignal | undefined;
}
