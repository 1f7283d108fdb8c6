#!/usr/bin/env node
// A prompt whose lines `!command` are run at once, for the person who sits there: see docs/embedding.md.
import { createInterface } from 'node:readline';
import { bash } from 'agent-bash';
import { renderText } from 'agent-bash/render';

const { stdin, stdout, env } = process;
const lines = createInterface({ input: stdin, output: stdout, prompt: '> ' });
let running = /** @type {AbortController | null} */ (null);
/** Runs a command; on a terminal its block is drawn over itself. @param {string} command */
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
  // What is quiet has no new snapshot, but its time goes on.
  const clock = setInterval(() => stdout.isTTY && draw({ output: live.stdout + live.stderr }), 250);
  const onSnapshot = (/** @type {object} */ now) => void Object.assign(live, now);
  const ran = bash(command, { mode: 'slow', signal: running.signal, sanitize: { ansi: false }, onSnapshot });
  draw(await ran.then((result) => ({ result })).catch((error) => ({ error })));
  clearInterval(clock);
  running = null;
}

// Ctrl-C ends the command, or the prompt where none runs; behind the end of the input there is none.
let ask = () => lines.prompt();
lines.on('SIGINT', () => (running ? running.abort() : lines.close())).on('close', () => (ask = () => {}));
ask();
for await (const line of lines) {
  if (line.startsWith('!')) await run(line.slice(1));
  else if (line !== '') console.log(`(for the agent: ${line})`);
  ask();
}
