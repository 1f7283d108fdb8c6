#!/usr/bin/env node
// A coding agent with agent-bash. See docs/coding-agent.md.
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { bash } from 'agent-bash';
import { runAgent } from './agent.mjs';
import { readArguments, USAGE } from './arguments.mjs';
import { chooseModel } from './model.mjs';
import { openPage } from './page.mjs';
import { createProject } from './project.mjs';
import { Transcript, wantsColour } from './transcript.mjs';

const EXIT = { done: 0, failed: 1, cannot: 2 };
/** Delay after each word of the script, so that a person can read along. */
const WORD_MS = 20;

/**
 * @param {AbortSignal} signal
 * @returns {Promise<number>} The exit code.
 */
async function main(signal) {
  let wanted;
  try {
    wanted = readArguments(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return EXIT.cannot;
  }
  if (wanted.help) {
    console.log(USAGE);
    return EXIT.done;
  }
  const { task, directory, keep, unconfined, ui } = wanted;
  if (directory !== null && !(await stat(directory).catch(() => null))?.isDirectory()) {
    console.error(`No such directory: ${directory}`);
    return EXIT.cannot;
  }

  const transcript = new Transcript(process.stdout, { colour: wantsColour(process.stdout, process.env) });
  const project = directory === null ? await createProject() : null;
  /** @type {import('./page.mjs').Page | null} */
  let page = null;
  try {
    if (ui) page = await openPage(transcript);
    return await work({
      task,
      directory: project?.directory ?? directory ?? '',
      project,
      unconfined,
      ui,
      transcript,
      signal,
    });
  } finally {
    await page?.close();
    if (keep && project) transcript.fact('kept', project.directory);
    else await project?.remove();
  }
}

/**
 * Runs the agent and prints its verdict.
 * @param {object} job
 * @param {string} job.task
 * @param {string} job.directory
 * @param {Awaited<ReturnType<typeof createProject>> | null} job.project `null` in a directory of the person.
 * @param {boolean} job.unconfined
 * @param {boolean} job.ui
 * @param {Transcript} job.transcript
 * @param {AbortSignal} job.signal
 * @returns {Promise<number>} The exit code.
 */
async function work({ task, directory, project, unconfined, ui, transcript, signal }) {
  const wordMs = process.stdout.isTTY ? WORD_MS : 0;
  const { model, label, scripted } = chooseModel({ env: process.env, ownTask: project === null, wordMs });
  transcript.fact('model', label);
  transcript.fact('cwd', directory);
  transcript.fact('task', task);
  const confined = !unconfined && (await canConfine(directory, transcript));
  const env = project?.env ?? {};
  const store = project?.store ?? null;
  const { finished, saved } = await runAgent({ model, task, directory, env, store, confined, ui, transcript, signal });
  transcript.gap();
  transcript.fact('saved', `${saved}`);
  if (signal.aborted) {
    transcript.verdict(false, 'interrupted');
    return EXIT.failed;
  }
  if (!finished) {
    transcript.verdict(false, 'the agent did not finish');
    return EXIT.failed;
  }
  if (project) {
    const { repaired, reason } = await project.verify();
    transcript.verdict(repaired, repaired ? `repaired: ${reason}` : `not repaired: ${reason}`);
    return repaired ? EXIT.done : EXIT.failed;
  }
  if (scripted) {
    transcript.verdict(
      false,
      'the task was not done: set AGENT_BASH_MODEL (such as anthropic/claude-sonnet-4.5) and AI_GATEWAY_API_KEY',
    );
    return EXIT.cannot;
  }
  transcript.verdict(true, 'the agent is done');
  return EXIT.done;
}

/**
 * Whether this machine can confine commands. If it cannot, the reason is printed, with a remedy.
 * @param {string} directory
 * @param {Transcript} transcript
 */
async function canConfine(directory, transcript) {
  try {
    await bash('true', { cwd: directory, confine: 'workspace' });
    transcript.fact('confined', 'changes in this directory alone, no network, no secrets');
    return true;
  } catch (error) {
    transcript.fact('confined', `no: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

// The first Ctrl-C terminates the command and the agent. A second one does not wait for them.
const interruption = new AbortController();
let exitCode = 0;
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(name, () => {
    if (interruption.signal.aborted) process.exit(exitCode);
    exitCode = 128 + constants.signals[name];
    interruption.abort();
  });
// The reader of the output is gone, as in `| head`.
process.stdout.on('error', () => interruption.abort());

try {
  const code = await main(interruption.signal);
  process.exitCode = exitCode || code;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = exitCode || EXIT.failed;
}
