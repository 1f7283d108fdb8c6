import { createInterface } from 'node:readline/promises';

/**
 * @typedef {object} Answer
 * @property {boolean} approved
 * @property {string} [reason] The text that the model reads.
 */

/**
 * Asks the person at the terminal whether a command may run. Without a terminal the answer is no.
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {string} why The text that the person reads.
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function askPerson(transcript, why, signal) {
  transcript.question(why);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    return { approved: false, reason: 'Nobody is there to be asked. Find another way, or leave it to a person.' };
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C at the question interrupts the agent.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await terminal.question('  Run it? [y/N] ', { signal });
    return /^y(es)?$/i.test(answer.trim()) ? { approved: true } : { approved: false, reason: 'The user said no.' };
  } catch {
    return { approved: false, reason: 'The user interrupted.' };
  } finally {
    terminal.close();
  }
}
