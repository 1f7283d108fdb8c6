import type { BashUsage, Survivor } from '../../native.cjs';
import type { Finding } from '../analysis';
import { channel } from '../builtins';

/** What a run is: a command of `bash()`, one of a session, one in a terminal, or a task in the background. */
export type ObservedKind = 'command' | 'session' | 'terminal' | 'task';

/** What the events of one run share. */
export interface Observed {
  /** Names the run in this process; of a task its id. */
  id: string;
  /** What it is. */
  kind: ObservedKind;
  /** Of its shell. */
  pid: number;
}

/** `agent-bash:start`: it runs. */
export interface ObservedStart extends Observed {
  /** As it was given, without the prefix. */
  command: string;
  /** Its positional parameters, as `args` has given them; of a task none are told. */
  args: string[];
  /** The folder it runs in, absolute. */
  cwd: string;
}

/** `agent-bash:output`: it has written. */
export interface ObservedOutput extends Observed {
  /** Of a terminal, and of a task, all is standard output. */
  stream: 'stdout' | 'stderr';
  /** Cleaned as its options say, at most 64 KiB. */
  text: string;
}

/** `agent-bash:kill`: its end was asked for. */
export interface ObservedKill extends Observed {
  /** `'abort'`: its signal was aborted; `'timeout'`: it has reached its limit, told when it has ended; `'kill'`: `kill()` of a terminal or a registry; `'close'`: its session or registry was closed. */
  reason: 'abort' | 'timeout' | 'kill' | 'close';
  /** The one signal that `kill(signal)` of a terminal sends; `null` where the whole tree is ended. */
  signal: string | null;
}

/** `agent-bash:exit`: it has ended, or goes on as a task. */
export interface ObservedExit extends Observed {
  /** As of a `BashResult`; of a task its state. */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'killed' | 'lost';
  /** As in a `BashResult`; `null` with `'backgrounded'` and `'lost'`. */
  exitCode: number | null;
  /** What really ended its shell (`'SIGKILL'`), or `null`; of a task that was killed the strongest that was sent. */
  signal: string | null;
  /** From its start to its end, in ms. */
  durationMs: number;
  /** The limit that held, in ms; `null` of a task. */
  timeoutMs: number | null;
  /** The task that it is from now on, with `'backgrounded'`; else `null`. */
  taskId: string | null;
  /** What its processes used; `null` of a task. */
  usage: BashUsage | null;
  /** What it has left running; of a task nothing is known. */
  survivors: Survivor[];
  /** One fact a line; of a task none. */
  notes: string[];
}

/** `agent-bash:block`: the safety engine has refused it, and nothing was started. */
export interface ObservedBlock {
  /** Names the call in this process. */
  id: string;
  /** What it would have been. */
  kind: ObservedKind;
  /** As it was given. */
  command: string;
  /** The folder it would have run in, absolute. */
  cwd: string;
  /** Why, as the error says it. */
  message: string;
  /** Where and what, as of the error. */
  findings: Finding[];
}

const start = channel('agent-bash:start');
const output = channel('agent-bash:output');
const kill = channel('agent-bash:kill');
const exit = channel('agent-bash:exit');
const block = channel('agent-bash:block');

/** The channels. Whoever publishes looks first whether somebody listens. */
export const channels = { start, output, kill, exit, block };

/** Whether anybody listens to any of them. */
export function isObserved(): boolean {
  return (
    start.hasSubscribers || output.hasSubscribers || kill.hasSubscribers || exit.hasSubscribers || block.hasSubscribers
  );
}
