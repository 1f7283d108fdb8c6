/**
 * Ways in which a process leaves the shell that started it. `DAEMON` is an executable word list, `SECONDS` its last
 * word.
 */
export const daemons = [
  ['a child', 'DAEMON &'],
  ['`setsid`', 'setsid DAEMON &'],
  ['`nohup`', 'nohup DAEMON >/dev/null 2>&1 &'],
  ['a double fork', '( ( DAEMON & ) & )'],
  ['a double fork with a session of its own', '( setsid bash -c "DAEMON & disown; exit" & )'],
  ['`env -i setsid`', 'env -i "$(command -v setsid)" "$(command -v sleep)" SECONDS &'],
  ['`env -i`, then two sessions', 'env -i setsid bash -c "exec env -i setsid -f DAEMON" </dev/null >/dev/null 2>&1 &'],
  ['one that closed every descriptor', '(exec 0<&- 1>&- 2>&-; cd /; exec setsid DAEMON) &'],
  ['one that ignores what it can', "(trap '' HUP INT TERM QUIT; exec setsid DAEMON) &"],
] as const;

/** The shell text of such a way for a process that sleeps for so long. */
export function daemon(text: string, seconds: string): string {
  return text.replaceAll('DAEMON', `sleep ${seconds}`).replaceAll('SECONDS', seconds);
}
