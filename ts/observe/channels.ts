import type { BashUsage, Confinement, Receipt, Survivor, UndoConflict, UndoCoverage } from '../../native.cjs';
import { channel } from '../core/builtins.ts';
import type { Evidence, Reused } from '../evidence/types.ts';
import type { Actor } from '../ledger/types.ts';
import type { View } from '../reduce/types.ts';
import type { BashResult } from '../result.ts';
import type { Finding } from '../safety/analysis.ts';

/** The kind of a run: a command of `bash()`, of a session or in a terminal, or a task in the background. */
export type ObservedKind = 'command' | 'session' | 'terminal' | 'task';

/** The fields that all events of one run share. */
export interface Observed {
  /** Names the run in this process. For a task, its id. */
  id: string;
  /** The kind of the run. */
  kind: ObservedKind;
  /** Process id of the shell; 0 in a `return` without a run. */
  pid: number;
  /** The name of the target that runs it, whose pids and paths these are; `null`: this machine. */
  target: string | null;
}

/**
 * `agent-bash:call`: a call that may start a run was made. It is published within the call, so a subscriber runs in the
 * asynchronous context of the caller. Each call has one `agent-bash:return`.
 */
export interface ObservedCall {
  /** Names the call in this process, and its run unless that is a task. */
  id: string;
  /** The kind that the run will have. */
  kind: ObservedKind;
  /** The command as given, without the prefix. */
  command: string;
  /** The positional parameters, as in `args`. */
  args: string[];
  /** The parties that ask for the run; `null` if the call does not name them. */
  actor: Actor | null;
  /** The name of the target that is to run it; `null`: this machine. */
  target: string | null;
  /**
   * Empty. A subscriber may add variables for the command, and `null` removes one. None is added if the `env` of the
   * call names one of them.
   */
  env: Record<string, string | null>;
}

/** `agent-bash:return`: a call has settled. The `agent-bash:exit` of its run comes before. */
export interface ObservedReturn extends Observed {
  /** As in a `BashResult`; `'backgrounded'` also for a started task. `null` if the call rejects. */
  status: BashResult['status'] | null;
  /** The task that the run is from now on. `null` if it is none. */
  taskId: string | null;
  /** The code of the error (`'ERR_BASH_CWD_NOT_FOUND'`) if the call rejects with a `BashError`. Otherwise `null`. */
  code: string | null;
}

/** `agent-bash:start`: a run has started. */
export interface ObservedStart extends Observed {
  /** The command as given, without the prefix. */
  command: string;
  /** The positional parameters, as in `args`. Always empty for a task. */
  args: string[];
  /** The absolute directory in which the command runs. */
  cwd: string;
}

/** `agent-bash:output`: a run has written. */
export interface ObservedOutput extends Observed {
  /** Always standard output for a terminal and a task. */
  stream: 'stdout' | 'stderr';
  /** Text that was cleaned by its options, at most 64 KiB. */
  text: string;
}

/** `agent-bash:kill`: the end of a run was requested. */
export interface ObservedKill extends Observed {
  /**
   * `'abort'`: the signal of the run was aborted. `'timeout'`: the run reached its limit; published at its end.
   * `'kill'`: `kill()` of a terminal or a registry. `'close'`: the session or registry of the run was closed.
   */
  reason: 'abort' | 'timeout' | 'kill' | 'close';
  /** The one signal that `kill(signal)` of a terminal sends; `null` if the whole tree is ended. */
  signal: string | null;
}

/** `agent-bash:exit`: a run has ended, or goes on as a task. */
export interface ObservedExit extends Observed {
  /** As in a `BashResult`. For a task, its state. */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'killed' | 'lost';
  /** As in a `BashResult`; `null` with `'backgrounded'` and `'lost'`. */
  exitCode: number | null;
  /**
   * The signal that really ended the shell (`'SIGKILL'`), or `null`. For a killed task, the strongest signal that was
   * sent.
   */
  signal: string | null;
  /** Time from the start of the run to its end, in ms. */
  durationMs: number;
  /** The limit that applied, in ms; `null` for a task. */
  timeoutMs: number | null;
  /** The limit that ended the run, or moved it to the background. `null` if none did, and for a task. */
  limit: 'time' | 'silence' | null;
  /** What the run waited for at that limit, as the note says it. `null` if that is not known, and for a task. */
  waitedFor: string | null;
  /** With `'backgrounded'`, the task that the run is from now on. Otherwise `null`. */
  taskId: string | null;
  /** The resources that the processes of the run used; `null` for a task. */
  usage: BashUsage | null;
  /** The processes that the run left running; always empty for a task. */
  survivors: Survivor[];
  /** As in a `BashResult`. */
  confinement: Confinement | null;
  /** Names the run, for `undo`. */
  runId: string;
  /** As in a `BashResult`, also for a task that this process started. `null` for a task from elsewhere. */
  receipt: Receipt | null;
  /** As in a `BashResult`, for the same tasks. */
  undo: UndoCoverage | null;
  /** As in a `BashResult`, also for a task that this process started. `null` for a task from elsewhere. */
  evidence: Evidence | null;
  /** The estimated tokens of the output and of its view; `null` without a view. */
  tokens: View['tokens'] | null;
  /** Notes as in a `BashResult`; always empty for a task. */
  notes: string[];
}

/** `agent-bash:block`: the safety engine has refused a command, and nothing was started. */
export interface ObservedBlock {
  /** Names the call in this process. */
  id: string;
  /** The kind that the run would have had. */
  kind: ObservedKind;
  /** The command as it was given. */
  command: string;
  /** The directory in which it would have run, absolute. */
  cwd: string;
  /** The name of the target that would have run it; `null`: this machine. */
  target: string | null;
  /** The message of the error. */
  message: string;
  /** The findings of the error. */
  findings: Finding[];
}

/**
 * `agent-bash:reuse`: a stored result was given in place of a run. Its call has no `start` and no `exit`, unless a
 * filter ran on stored output.
 */
export interface ObservedReuse {
  /** Names the call in this process. */
  id: string;
  /** The kind that the run would have had. */
  kind: ObservedKind;
  /** The command as it was given, without the prefix. */
  command: string;
  /** Names the result. */
  runId: string;
  /** As in a `BashResult`. */
  exitCode: number | null;
  /** As in a `BashResult`. */
  reused: Reused;
}

/** `agent-bash:undo`: a run was undone. A dry run is not published. */
export interface ObservedUndo {
  /** The run that was undone. */
  runId: string;
  /** Names the undo, which is a run, too; `''` if nothing changed. */
  undoId: string;
  /** Paths of things that are as before the run again. */
  restored: string[];
  /** Paths of things that the run had made, and that are gone. */
  removed: string[];
  /** Things that stay as they are, because they changed after the run. */
  conflicts: UndoConflict[];
  /** Effects that no undo takes back, as sentences. At most 100 paths are named, and the others counted. */
  notCovered: string[];
}

/** `agent-bash:draft`: this process has opened a draft, or done something with it. A dry run is not published. */
export interface ObservedDraft {
  /** What has happened. A draft that exists may be opened again, and a part of it committed. */
  event: 'opened' | 'forked' | 'committed' | 'discarded' | 'closed';
  /** The id of the draft. With `'forked'` that of the new one. */
  draft: string;
  /** Its name for people, or `null`. */
  name: string | null;
  /** The drafted directory, absolute. */
  root: string;
  /** With `'forked'`, the id of the draft whose changes it begins with. Otherwise `null`. */
  forkOf: string | null;
  /** With `'committed'`, numbers of paths as in `Committed`: with conflicts nothing was applied. Otherwise `null`. */
  counts: { applied: number; skipped: number; conflicts: number } | null;
  /** Names the commit, for `undo`; `''` if nothing was changed. `null` without a commit. */
  undoId: string | null;
}

/** `agent-bash:rule-retired`: a rule of reductions does not pay, and is off for the rest of its store. */
export interface ObservedRule {
  /** The name of the rule, as in `view.rules`. */
  rule: string;
  /** Estimated tokens that the rule left out. */
  saved: number;
  /** Tokens of those that were recalled. */
  recalled: number;
}

/** `agent-bash:target`: the state of a target has changed. */
export interface ObservedTarget {
  /** What has happened. `'connected'`: by `connect`, or anew after the target was lost. */
  state: 'connected' | 'disconnected' | 'reconnected' | 'lost' | 'closed';
  /** The name of the target. */
  target: string;
  /** Unix time in ms. */
  at: number;
  /** Why the link is cut, or the target lost; `''` for `'connected'` and `'reconnected'`. */
  reason: string;
  /** How long there was no link, in ms; `null`: there was one. */
  downMs: number | null;
  /** The `runId`s of the commands that are lost. */
  lost: string[];
}

const call = channel('agent-bash:call');
const start = channel('agent-bash:start');
const output = channel('agent-bash:output');
const kill = channel('agent-bash:kill');
const exit = channel('agent-bash:exit');
const block = channel('agent-bash:block');
const returned = channel('agent-bash:return');
const reuse = channel('agent-bash:reuse');
const undo = channel('agent-bash:undo');
const draft = channel('agent-bash:draft');
const ruleRetired = channel('agent-bash:rule-retired');
const target = channel('agent-bash:target');

/** The channels. Publishers check for subscribers first. */
export const channels = { call, start, output, kill, exit, block, returned, reuse, undo, draft, ruleRetired, target };

/** Returns whether a channel of runs has a subscriber. */
export function isObserved(): boolean {
  return (
    call.hasSubscribers ||
    returned.hasSubscribers ||
    start.hasSubscribers ||
    output.hasSubscribers ||
    kill.hasSubscribers ||
    exit.hasSubscribers ||
    block.hasSubscribers ||
    reuse.hasSubscribers
  );
}
