import type { Truncate } from 'agent-bash';

/** For system prompts: what to use the bash tool for, and what not. */
export const BASH_INSTRUCTIONS = `Use the bash tool to run tests, install dependencies, build, work with git, and for whatever else needs a shell.
For files, prefer the structured tools you have (read, write, edit, glob, grep): they give better errors and structure than cat, echo, sed, find and grep.
Read the exit code and stderr of every command before you go on.`;

/** The description of the tool, in few words: what runs where, what comes back, what happens at the limits. */
export function describeTool(options: {
  cwd: string;
  mode: string | undefined;
  timeoutMs: number | undefined;
  truncate: Truncate;
  spill: boolean;
}): string {
  const limit =
    options.timeoutMs !== undefined
      ? `${options.timeoutMs / 1000} s; timeout_ms gives it more or less`
      : `${options.mode === 'slow' ? '15 min' : '30 s'}; mode "slow" gives it 15 min: use it for builds, downloads, installs and tests; timeout_ms sets another`;
  const whole = options.spill ? ' When bytes were cut, the whole output is in the file that the notice names.' : '';
  return `Runs a command with bash -c and returns stdout, stderr and the exit code.
The working folder, variables and aliases do not persist between calls. There is no terminal and stdin is empty, so nothing can be asked for.
Long output is cut to ${kept(options.truncate)} of each stream.${whole} head and tail show fewer lines and keep the exit code of the command.
The time limit is ${limit}. At the limit the command and all it started are ended, and its output up to there is returned.
Keep commands concise, under 60k tokens; write long scripts to a file first.
<pwd>${options.cwd}</pwd>`;
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
