#!/usr/bin/env node
// A prompt that runs lines of the form `!command` at once, for a person. See docs/embedding.md.
import { createInterface } from 'node:readline';
import { bash } from 'agent-bash';
import { renderText } from 'agent-bash/render';

const { stdin, stdout, env } = process;
const lines = createInterface({ input: stdin, output: stdout, prompt: '> ' });
let running = /** @type {AbortController | null} */ (null);
/** Runs a command. On a terminal it redraws the block in place. @param {string} command */
async function run(command) {
  running = new AbortController();
  const began = performance.now();
  let rows = 0;
  /** @param {Partial<import('agent-bash/render').RenderInput>} now */
  const draw = (now) => {
    const look = { columns: stdout.columns || 80, colour: stdout.isTTY === true && !env.NO_COLOR };
    const text = renderText({ command, result: null, elapsedMs: performance.now() - began, ...now }, look);
    stdout.write(`${rows > 0 ? `\x1b[${rows}A\x1b[J` : ''}${text}\n`);
    rows = text.split('\n').length;
  };
  const live = { stdout: '', stderr: '' };
  // A quiet command sends no snapshot, but its elapsed time changes.
  const clock = setInterval(() => stdout.isTTY && draw({ output: live.stdout + live.stderr }), 250);
  const onSnapshot = (/** @type {object} */ now) => void Object.assign(live, now);
  const ran = bash(command, { mode: 'slow', signal: running.signal, sanitize: { ansi: false }, onSnapshot });
  draw(await ran.then((result) => ({ result })).catch((error) => ({ error })));
  clearInterval(clock);
  running = null;
}

// Ctrl-C terminates the command, or the prompt if none runs. After the end of the input there is no prompt.
let ask = () => lines.prompt();
lines.on('SIGINT', () => (running ? running.abort() : lines.close())).on('close', () => (ask = () => {}));
ask();
for await (const line of lines) {
  if (line.startsWith('!')) await run(line.slice(1));
  else if (line !== '') console.log(`(for the agent: ${line})`);
  ask();
}
