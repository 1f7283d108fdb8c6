import { bash, type Target, type Truncate } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import type { SecretReach } from '../core/world.ts';
import type { Level } from '../reduce/keeping.ts';
import { isSession } from './sandbox/options.ts';
import { modeLimit } from './schema.ts';
import { toolFolder } from './setup.ts';
import type { BashToolOptions, ToolSandbox } from './types.ts';

/** Text for system prompts: when to use the bash tool. */
export const BASH_INSTRUCTIONS = `Use the bash tool to run tests, install dependencies, build, work with git, and for whatever else needs a shell.
Start servers and whatever else does not end by itself with mode "background", wait for them with wait_pid and not with a loop of sleep or curl, look at them with check_pid, and stop them with kill_pid when you no longer need them.
For files, prefer the structured tools you have (read, write, edit, glob, grep): they give better errors and structure than cat, echo, sed, find and grep.
Read the exit code and stderr of every command before you go on.`;

/** Instructions for a tool with a `session`. */
export const SESSION_INSTRUCTIONS = `${BASH_INSTRUCTIONS}
The shell remembers: the working directory, variables, functions, aliases and options that a command leaves are there for the next one. A command that a limit or a signal has ended leaves nothing, and jobs are not carried over.`;

/** The sentences of the description about shell state. */
const STATE = new Map([
  [false, 'The working folder, variables and aliases do not persist between calls.'],
  [
    true,
    'The working folder, variables, functions, aliases and options persist between calls, jobs do not; calls run one after another.',
  ],
  [null, 'The working folder, variables and aliases persist between calls only where you were told so.'],
]);

const IN_TERMINAL =
  'The command runs in a terminal that a person sees and may type into; you cannot type. Both streams come as one, in stdout.';

const UNDOES =
  'What a command changed is listed behind its output. undo_run, in place of a command, takes back what a run changed in files, where the result offers it; nothing else is taken back.';

const FOLDS =
  'The exit code is named if it is not 0, and stdout alone has no label. Repeats are folded: [x37] says that the line before it is there 37 times.';
const GAPS =
  'Of long output the lines that say most are returned. A marker like [... L40-95] stands for the lines that are left out, and the last line names the file that has them all.';
const RECALLS =
  'recall, in place of a command, gives them: "12:40-95" lines 40 to 95 of output #12, "12 /pattern/" those that match. A command that is run again at once is returned whole.';

/** Returns how the text of a result is reduced, in sentences; `''` if it is not. */
export function describeReduction(level: Level, recalls: boolean): string {
  if (level === 'off') return '';
  return [FOLDS, ...(level === 'salient' ? [GAPS, ...(recalls ? [RECALLS] : [])] : [])].join(' ');
}

/** Returns the tool's description: how it runs commands, the parts of a result, and the limits. */
export function describeTool(options: {
  cwd: string;
  /** The machine that runs the commands, in a sentence; `''` for this one. */
  place?: string | undefined;
  mode: string | undefined;
  timeoutMs: number | undefined;
  idleTimeoutMs: number | undefined;
  /** Whether a command moves to the background at its time limit. */
  moves: boolean;
  /** Whether shell state carries over to the next command, or `null` if that differs between calls. */
  lasts: boolean | null;
  /** Whether commands run in a terminal. */
  terminal: boolean;
  truncate: Truncate;
  spill: boolean;
  /** How the text of a result is reduced, in sentences; `''` if it is not. */
  reduces?: string | undefined;
  /** Whether the model may undo runs. */
  undoes?: boolean | undefined;
  /** The reach of the commands, in a sentence; `''` without confinement. */
  reach?: string | undefined;
}): string {
  const limit =
    options.timeoutMs !== undefined
      ? `${options.timeoutMs / 1000} s; timeout_ms gives it more or less`
      : `${modeLimit(options.mode, options.moves)}; mode "slow" gives it ${modeLimit('slow')}: use it for builds, downloads, installs and tests; timeout_ms sets another`;
  const atLimit = options.moves
    ? 'At the limit the command goes on in the background, and its output up to there is returned with its pid and the file of its output.'
    : 'At the limit the command and all it started are ended, and its output up to there is returned.';
  const whole = options.spill ? ' When bytes were cut, the whole output is in the file that the notice names.' : '';
  return `Runs a command with bash -c and returns stdout, stderr and the exit code.${onLine(options.place)}
${STATE.get(options.lasts)} ${options.terminal ? IN_TERMINAL : 'There is no terminal and stdin is empty, so nothing can be asked for.'}
Long output is cut to ${kept(options.truncate)} of each stream.${whole} head and tail show fewer lines and keep the exit code of the command.${onLine(options.reduces)}
The time limit is ${limit}.${silenceLimit(options.terminal ? undefined : options.idleTimeoutMs)} ${atLimit}
Mode "background" is for servers and demos: it returns at once with the pid and the file of the output. check_pid, in place of a command, gives the state and the new output of such a process, wait_pid waits until it has ended, its port accepts connections or its output matches a pattern, kill_pid ends it and all it started.
${options.undoes ? `${UNDOES}\n` : ''}${options.reach ? `${options.reach}\n` : ''}Keep commands concise, under 60k tokens; write long scripts to a file first.
<pwd>${options.cwd}</pwd>`;
}

/** Returns the machine that runs the commands of a tool, in a sentence; `''` for this one. */
export function describePlace({ target }: Pick<BashToolOptions, 'target'>): string {
  if (target === undefined) return '';
  if (innerOf(bash).isPool(target)) {
    return 'Commands run on one of several other machines, the same for all of them; all paths are paths there. If it is lost, the next command says so, and another machine without its files takes its place.';
  }
  const { hostName, user } = (target as Target).info ?? {};
  if (hostName === undefined) return '';
  return `Commands run on the host ${hostName} as ${user}, another machine than that of your other tools; all paths are paths there.`;
}

/** Entries that the description names. */
const NAMED = 10;

/** Returns what confined commands can reach, in a sentence for the description; `''` without confinement. */
export function describeReach({ confine, onAccess }: Pick<BashToolOptions, 'confine' | 'onAccess'>): string {
  if (confine === undefined || confine === 'off') return '';
  const {
    profile = 'workspace',
    write = [],
    network = 'none',
    secrets = {},
    ssh = { hosts: [] },
  } = typeof confine === 'string' ? { profile: confine } : confine;
  const places = [...(profile === 'workspace' ? ['the working directory'] : []), ...some(write)];
  const changes =
    places.length === 0 ? 'they can change no files' : `they can change files only in ${places.join(', ')}`;
  const ofSecrets = Object.values(secrets).flatMap((secret) => secret.hosts);
  const hosts = some([...new Set([...(typeof network === 'object' ? network.allow : []), ...ofSecrets, ...ssh.hosts])]);
  const reaches =
    network === 'full'
      ? 'reach every host'
      : hosts.length === 0
        ? 'reach no host but their own'
        : `reach only the hosts ${hosts.join(', ')}`;
  const more = onAccess === undefined ? '' : '; with access you can ask for more';
  return `Commands are confined: ${changes}, ${reaches}, and read no secrets of the user. What was denied is listed behind the output${more}.${describeSecrets(secrets)}`;
}

/** Returns where secrets work, in sentences behind others. */
function describeSecrets(secrets: Record<string, SecretReach> = {}): string {
  const usable = Object.entries(secrets).map(([name, { hosts, file, inject }]) => {
    const what = inject ? 'A secret' : file === undefined ? `The variable ${name}` : `The secret in ${file}`;
    return ` ${what} works for ${some(hosts).join(', ')} and cannot be read.`;
  });
  return usable.join('');
}

/**
 * Returns that commands run in a draft, in sentences for the description; `''` without one. `looks`: whether the input
 * has the fields about it.
 */
export function describeDraft(options: BashToolOptions, looks = true): string {
  const { draft = false, commit, confine } = options;
  if (draft === false) return '';
  const root = draft === true ? toolFolder(options) : draft.root;
  const effect = `Commands run in a draft of ${root}: they see what earlier ones have changed, and outside of the draft nothing changes until it is committed.`;
  const ofOptions = typeof confine === 'object' ? confine.secrets : undefined;
  const secrets = describeSecrets(draft === true ? ofOptions : innerOf(bash).secretsOf(draft));
  if (!looks) return `${effect}${secrets}`;
  const asks = commit === 'ask' ? '; draft_commit asks a person to commit it' : '; a person commits it';
  return `${effect} draft_changes, in place of a command, shows what it has changed${asks}.${secrets}`;
}

function some(entries: readonly string[]): string[] {
  return entries.length > NAMED ? [...entries.slice(0, NAMED), `${entries.length - NAMED} more`] : [...entries];
}

/** Returns the description of a tool whose commands run in a sandbox. */
export function describeInSandbox(options: {
  sandbox: ToolSandbox;
  cwd: string | undefined;
  mode: string | undefined;
  timeoutMs: number | undefined;
  idleTimeoutMs: number | undefined;
  truncate: Truncate;
  spill: boolean;
  /** How the text of a result is reduced, in sentences; `''` if it is not. */
  reduces?: string | undefined;
}): string {
  const { sandbox, cwd, timeoutMs } = options;
  const limit = timeoutMs === undefined ? modeLimit(options.mode) : `${timeoutMs / 1000} s`;
  const whole = options.spill
    ? ' When bytes were cut, the notice names a file of the sandbox that has the whole output, if there is one.'
    : '';
  const said = saidOf(sandbox);
  return `Runs a command with bash -c in a sandbox and returns stdout, stderr and the exit code.
${STATE.get(false)} There is no terminal and stdin is empty, so nothing can be asked for.
Long output is cut to ${kept(options.truncate)} of each stream.${whole} head and tail show fewer lines and keep the exit code of the command.${onLine(options.reduces)}
The time limit is ${limit}; mode "slow" or timeout_ms gives it more: use it for builds, downloads, installs and tests.${silenceLimit(options.idleTimeoutMs)} At the limit the command is ended, and its output up to there is returned.
Mode "background", check_pid, kill_pid and wait_pid do not work in the sandbox: start servers with «&», their output sent to a file, and end them with kill.
Keep commands concise, under 60k tokens; write long scripts to a file first.${typeof said === 'string' && said !== '' ? `\n<sandbox>${said}</sandbox>` : ''}${cwd === undefined ? '' : `\n<pwd>${cwd}</pwd>`}`;
}

/** Returns the description that a session gives of itself, or nothing if that fails. */
function saidOf(sandbox: ToolSandbox): unknown {
  try {
    return isSession(sandbox) ? sandbox.description : undefined;
  } catch {
    return undefined;
  }
}

function onLine(sentences: string | undefined): string {
  return sentences ? `\n${sentences}` : '';
}

function silenceLimit(idleTimeoutMs: number | undefined): string {
  if (idleTimeoutMs === undefined) return '';
  return ` A command that prints nothing for ${idleTimeoutMs / 1000} s is at its limit, too.`;
}

function kept(truncate: Truncate): string {
  if (truncate.keep === 'ends') return `the first ${truncate.headBytes} and last ${truncate.tailBytes} bytes`;
  const limits = [
    truncate.maxLines === undefined ? '' : `${truncate.maxLines} lines`,
    truncate.maxBytes === undefined ? '' : `${truncate.maxBytes} bytes`,
    truncate.maxChars === undefined ? '' : `${truncate.maxChars} characters`,
  ].filter((limit) => limit !== '');
  return `the ${truncate.keep === 'tail' ? 'last' : 'first'} ${limits.length === 0 ? '16 MiB' : limits.join(' or ')}`;
}
