/** Text for system prompts: when and how to use the terminal tool. */
export const TERMINAL_INSTRUCTIONS = `Use the terminal tool for programs that want a terminal: REPLs, debuggers, editors, pagers, installers that ask, programs with menus. For all else use the bash tool: it gives exit codes and whole output.
Start a program, look at its screen, and answer it with send: text for what is typed, keys for Enter, arrows, Ctrl-C and the like. Each call shows the screen that it has led to. Where that takes a while, wait for the text that you expect.
Before you type, read what the screen asks for. Stop a terminal when you no longer need it.`;

/** Returns the tool's description: its purpose, its answers and its limits. */
export function describeTerminal({ cwd, reach = '' }: { cwd: string; reach?: string }): string {
  return `Runs programs in terminals and shows their screens: for REPLs, debuggers, editors, pagers, installers that ask, programs with menus.
start runs a command with bash -c in a new terminal, 80 columns by 24 rows unless told otherwise, and names it (t1, t2 …). send types text, pastes, and presses keys; a line end in text is Enter. start and send come back with the screen when it has settled, 3 s later at most.
wait comes back when text or a pattern is on the screen, when nothing was written for idle_ms, or when the program has ended, and after 10 s at most unless timeout_ms says otherwise. read shows the screen as it is. With changed only the rows that differ from what you saw last are shown.
A program runs until it ends, or until stop. What has scrolled off a screen is gone: for long output, use more rows, a pager, or a file.
Several terminals may run at once; list shows them.
${reach === '' ? '' : `${reach}\n`}<pwd>${cwd}</pwd>`;
}
