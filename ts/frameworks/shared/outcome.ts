import type { BashToolOutput } from '../../tool/types.ts';

/** What frameworks ask for about the end of a call of the tool. */
export interface Outcome {
  /** The output as one text, whose cuts are said in it. */
  text: string;
  /** The exit code of the command or task; `null` while it runs. */
  exitCode: number | null;
  /** Whether the output lacks something. */
  truncated: boolean;
  /** The file with the whole output; `null` if there is none. */
  path: string | null;
  /** The id of the run; `null` for anything but a command. */
  runId: string | null;
  durationMs: number;
}

/** Returns the outcome of a call that was answered. */
export function outcomeOf(output: BashToolOutput): Outcome {
  const none = { exitCode: 0, truncated: false, path: null, runId: null, durationMs: 0 };
  if ('error' in output) return { ...none, text: output.error, exitCode: null };
  if ('task' in output) {
    const { exitCode, logPath, startedAt, endedAt } = output.task;
    return { ...none, text: output.output, exitCode, path: logPath, durationMs: (endedAt ?? Date.now()) - startedAt };
  }
  if (output.status === 'recalled' || output.status === 'drafted') return { ...none, text: output.text };
  if (output.status === 'undone' || output.status === 'committed')
    return { ...none, text: '', exitCode: output.exitCode };
  const { exitCode, durationMs } = output;
  const text = oneText(output);
  if (output.status === 'running') return { ...none, text, exitCode, durationMs };
  const { stdout, stderr } = output.truncation;
  const path = output.background?.logPath ?? stdout?.path ?? stderr?.path ?? null;
  return { text, exitCode, truncated: (stdout ?? stderr) !== null, path, runId: output.runId, durationMs };
}

/** Returns both streams as one text. */
export function oneText({ stdout, stderr }: { stdout: string; stderr: string }): string {
  return [stdout, stderr].filter((stream) => stream !== '').join('\n');
}
