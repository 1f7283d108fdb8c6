#!/usr/bin/env node
// Runs commands for another program, with one JSON value per line in both directions. See docs/embedding.md.
import { createInterface } from 'node:readline';
import { bash } from 'agent-bash';
import { renderText } from 'agent-bash/render';

/** @type {Map<unknown, AbortController>} Running commands, by the id of the client. */
const running = new Map();
const out = process.stdout.on('error', () => process.exit(1));

/** Resolves when the client has room for more. @param {object} message */
const send = (message) => new Promise((resolve) => out.write(`${JSON.stringify(message)}\n`, resolve));

/** @param {{ id: unknown, command: string, cwd?: string, timeoutMs?: number }} asked */
async function run({ id, command, cwd, timeoutMs }) {
  const stop = new AbortController();
  running.set(id, stop);
  const onOutput = async (/** @type {object} */ chunk) => void (await send({ type: 'output', id, ...chunk }));
  const answer = await bash(command, { cwd, timeoutMs, signal: stop.signal, onOutput })
    .then((result) => ({ type: 'result', id, result, text: renderText({ command, cwd, result }, { colour: false }) }))
    .catch(({ code, message, findings }) => ({ type: 'error', id, code, message, findings }));
  running.delete(id);
  await send(answer);
}

const lines = createInterface({ input: process.stdin }).on('line', (line) => {
  let id = null;
  try {
    const asked = JSON.parse(line);
    id = asked.id ?? null;
    if (asked.type === 'bash' && ['string', 'number'].includes(typeof id) && !running.has(id)) run(asked);
    else if (asked.type === 'abort_bash' && running.has(id)) running.get(id)?.abort();
    else throw new Error('neither a new command nor one that runs');
  } catch (error) {
    send({ type: 'error', id, code: 'BAD_REQUEST', message: String(error) });
  }
});
// Without a client all commands are terminated.
lines.on('close', () => [...running.values()].map((stop) => stop.abort()));
