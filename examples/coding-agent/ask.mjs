import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** Longest wait for an answer on the page where nobody is at a terminal. */
const PAGE_MS = 10 * 60_000;

/**
 * @typedef {object} Answer
 * @property {boolean} approved
 * @property {string} [reason] The text that the model reads.
 */

/** Whether a person is at the terminal. */
const isThere = () => process.stdin.isTTY && process.stdout.isTTY;

/**
 * Asks the person at the terminal while the page asks, too. Without a terminal the answer is no, after a time in which
 * a person may find the page.
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {string} why The text that the person reads.
 * @param {AbortSignal} signal Aborts when the page has answered.
 * @returns {Promise<Answer>}
 */
export async function askBesidePage(transcript, why, signal) {
  if (isThere()) return await askPerson(transcript, why, signal);
  transcript.question(why);
  await pause(PAGE_MS, undefined, { signal });
  return { approved: false, reason: 'Nobody has answered. Find another way, or leave it to a person.' };
}

/**
 * Asks the person at the terminal whether a command may run. Without a terminal the answer is no.
 * @param {import('./transcript.mjs').Transcript} transcript
 * @param {string} why The text that the person reads.
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function askPerson(transcript, why, signal) {
  transcript.question(why);
  if (!isThere()) {
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
