import { setTimeout as sleep } from 'node:timers/promises';
import { bash, PtySession, type Target, warmShells, warmUp } from 'agent-bash';
import { type Check, either, fine, missing } from './check.ts';
import { line } from './files.ts';

/** Time limits of successive attempts, in ms. A busy machine needs more than others should wait. */
const TRIES = [300, 1_000, 3_000];
/** An unusual duration tells this `sleep` from all others. */
const SLEEP = 'sleep 20.17';

/** Checks that a daemon that left its command's tree and environment ends with the command. */
export async function tree(target?: Target): Promise<Check> {
  const daemon = `(env -i "$BASH" -c 'echo $$; exec ${SLEEP}' &); ${SLEEP}`;
  const started = new AbortController();
  const { stdout } = await bash(daemon, { target, signal: started.signal, onOutput: () => started.abort() });
  const pid = Number(stdout);
  if (!(pid > 0)) throw new Error('the daemon did not say who it is');
  const left = await outlived(pid, target);
  return either(
    !left,
    'tree',
    left ? 'a daemon that cleared its environment outlived its command' : 'daemons end with their command',
    'such daemons stay behind at a limit, an abort and the end of the host',
  );
}

/** Returns whether a process outlived its command by more than a moment, and ends it. */
async function outlived(pid: number, target: Target | undefined): Promise<boolean> {
  const there = async (signal: 'KILL' | 0) => {
    if (target) return (await bash(`kill -s ${signal} ${pid}`, { target })).exitCode === 0;
    try {
      return process.kill(pid, signal && 'SIGKILL');
    } catch {
      return false;
    }
  };
  for (let tries = 0; tries < 50 && (await there(0)); tries++) await sleep(20);
  return there('KILL');
}

/** The cost of a machine on which no shell can wait. */
const WITHOUT_WARM = 'every command waits for bash to start up, some milliseconds';

/** Checks that a shell of a target can wait for a command. */
export async function warmStartsOn(target: Target): Promise<Check> {
  const warm = await warmUp({ target });
  return either(warm, 'warm-starts', warm ? 'a shell waits for a command' : 'no shell can wait', WITHOUT_WARM);
}

/** Checks that a warm shell can take a command. */
export async function warmStarts(): Promise<Check> {
  const cost = WITHOUT_WARM;
  if (process.env.AGENT_BASH_WARM === '0') return missing('warm-starts', 'turned off by AGENT_BASH_WARM=0', cost);
  const before = warmShells().used;
  const taken = () => warmShells().used > before;
  // On a busy machine the shell may not be ready in time.
  for (let tries = 0; tries < TRIES.length && !taken(); tries++) {
    await warmUp();
    await bash('true');
  }
  const scope = await line('/proc/sys/kernel/yama/ptrace_scope');
  const found = scope === null ? '' : `, ptrace_scope ${scope}`;
  const used = taken();
  return either(
    used,
    'warm-starts',
    `${used ? 'a shell that waited took a command' : 'no shell can wait'}${found}`,
    cost,
  );
}

/** Checks that a blocked process is named at the time limit. */
export async function waiting(target?: Target): Promise<Check> {
  let named = false;
  for (const timeoutMs of TRIES) {
    const { notes } = await bash('read -r line <> <(:)', { target, timeoutMs });
    named = notes.some((note) => note.startsWith('waiting for input'));
    if (named) break;
  }
  return either(
    named,
    'waiting',
    named ? 'a command that waits is distinguished from a slow one' : 'what a process waits for cannot be seen',
    'at its limit a command that waits for input is only named when its last line plainly asks',
  );
}

/** Checks that pseudo-terminals are available. */
export async function terminals(target?: Target): Promise<Check> {
  const cost = 'PtySession and createTerminalTool fail, and the bash tool runs commands without a terminal';
  const terminal = new PtySession({ target, timeoutMs: 10_000 });
  try {
    await terminal.start('tty');
    const { stdout } = await terminal.result();
    return stdout.startsWith('/dev/')
      ? fine('terminals', stdout.trim())
      : missing('terminals', 'a program sees none', cost);
  } catch (error) {
    return missing('terminals', (error as Error).message, cost);
  }
}
