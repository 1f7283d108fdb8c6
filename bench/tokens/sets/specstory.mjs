// Sessions of Claude Code and Codex, recorded by the developers of SpecStory in Markdown.

export const repository = 'specstoryai/getspecstory';
export const licence = 'Apache-2.0';
export const what = 'sessions of Claude Code and Codex';

const OPEN =
  /^<tool-use data-tool-type="shell" data-tool-name="(?:Bash|exec_command|Shell|shell|shell_command)"><details>$/;
const CLOSE = '</details></tool-use>';
/** Sentences of the agents in place of an output. */
const NO_OUTPUT = /^\((?:Bash completed with no output|no content)\)$/;
/** An agent that refused to run the command, or put its output elsewhere. */
const NOT_RUN =
  /^(?:<tool_use_error>|Permission to use|The user doesn't want|\[Request interrupted|Command running in background|<persisted-output>|User rejected|This command requires approval)/;

export function* records({ files, read }) {
  for (const path of files(/(?:^|\/)\.specstory\/history\/[^/]*\.md$/)) {
    const lines = read(path).split('\n');
    for (let at = 0; at < lines.length; at++) {
      if (!OPEN.test(lines[at])) continue;
      const end = lines.indexOf(CLOSE, at);
      if (end < 0) break;
      const call = readCall(lines.slice(at + 1, end));
      if (call) yield { session: path, ...call };
      at = end;
    }
  }
}

/** Reads one call: a summary, the command in code marks or a block of code, and its output in the last block. */
function readCall(lines) {
  const inline = /^<summary>.*\*\*\w+\*\* `(.+)`<\/summary>$/.exec(lines[0] ?? '')?.[1];
  const last = lines.lastIndexOf('```');
  if (last < 0) return null;
  let at = 1;
  let command = inline ?? null;
  for (; at < last; at++) {
    if (lines[at] === '```text' || (lines[at] === '```' && command !== null)) break;
    const marked = /^`(.+)`$/.exec(lines[at]);
    if (marked) command = marked[1];
    if (lines[at].startsWith('```')) {
      const end = lines.indexOf('```', at + 1);
      if (end < 0 || end >= last) return null;
      command = lines.slice(at + 1, end).join('\n');
      at = end;
    }
  }
  if (command === null || at >= last) return null;
  return readOutput(command, lines.slice(at + 1, last).join('\n'));
}

/** Separates an output from the lines of its agent. */
function readOutput(command, text) {
  if (NO_OUTPUT.test(text) || NOT_RUN.test(text) || text === '') return null;
  const claude = /^(?:Error: )?Exit code (\d+)\n?/.exec(text);
  if (claude) return { command, exitCode: Number(claude[1]), output: text.slice(claude[0].length) };
  const codex =
    /^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?Process exited with code (\d+)\n(?:Original token count: .*\n)?Output:\n/;
  const found = codex.exec(text);
  if (found) return { command, exitCode: Number(found[1]), output: text.slice(found[0].length) };
  return { command, exitCode: 0, output: text };
}
