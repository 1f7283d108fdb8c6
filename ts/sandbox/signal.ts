/** Sends a signal to the processes of a command's group. `pid` is that of its shell. Does nothing if none is left. */
export function signalGroup(pid: number, signal: number | NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
