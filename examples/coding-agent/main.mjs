#!/usr/bin/env node
// A coding agent with agent-bash. See README.md.
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { posix } from 'node:path';
import { bash, connect } from 'agent-bash';
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
  const transcript = new Transcript(process.stdout, { colour: wantsColour(process.stdout, process.env) });
  if (wanted.target === null) return begin(wanted, undefined, transcript, signal);
  let target;
  try {
    target = await connect({ ...wanted.target, signal });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return EXIT.cannot;
  }
  try {
    return await begin(wanted, target, transcript, signal);
  } finally {
    await target.close();
  }
}

/**
 * Creates the project, unless the directory is the person's own, and works in it.
 * @param {import('./arguments.mjs').Wanted} wanted
 * @param {import('agent-bash').Target | undefined} target
 * @param {Transcript} transcript
 * @param {AbortSignal} signal
 * @returns {Promise<number>} The exit code.
 */
async function begin({ task, directory, keep, unconfined, ui }, target, transcript, signal) {
  const own = directory !== null && target ? posix.resolve(target.info.cwd, directory) : directory;
  if (own !== null && !(await isDirectory(own, target))) {
    console.error(`No such directory: ${own}`);
    return EXIT.cannot;
  }
  const project = own === null ? await createProject(target) : null;
  /** @type {import('./page.mjs').Page | null} */
  let page = null;
  try {
    if (ui) page = await openPage(transcript);
    return await work({
      task,
      directory: project?.directory ?? own ?? '',
      target,
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

/** @param {string} path @param {import('agent-bash').Target | undefined} target */
async function isDirectory(path, target) {
  if (target) return (await target.list(path).catch(() => null)) !== null;
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/**
 * Runs the agent and prints its verdict.
 * @param {object} job
 * @param {string} job.task
 * @param {string} job.directory
 * @param {import('agent-bash').Target | undefined} job.target
 * @param {Awaited<ReturnType<typeof createProject>> | null} job.project `null` in a directory of the person.
 * @param {boolean} job.unconfined
 * @param {boolean} job.ui
 * @param {Transcript} job.transcript
 * @param {AbortSignal} job.signal
 * @returns {Promise<number>} The exit code.
 */
async function work({ task, directory, target, project, unconfined, ui, transcript, signal }) {
  const wordMs = process.stdout.isTTY ? WORD_MS : 0;
  const { model, label, scripted } = chooseModel({ env: process.env, ownTask: project === null, wordMs });
  transcript.fact('model', label);
  if (target) transcript.fact('target', `${target.id} (${target.info.hostName})`);
  transcript.fact('cwd', directory);
  transcript.fact('task', task);
  const confined = !unconfined && (await canConfine({ cwd: directory, target }, transcript));
  const env = project?.env ?? {};
  const store = project?.store ?? null;
  const { finished, saved } = await runAgent({
    model,
    task,
    directory,
    target,
    env,
    store,
    confined,
    ui,
    transcript,
    signal,
  });
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
 * Whether the machine of the commands can confine them. If it cannot, the reason is printed, with a remedy.
 * @param {Pick<import('agent-bash').BashOptions, 'cwd' | 'target'>} where
 * @param {Transcript} transcript
 */
async function canConfine(where, transcript) {
  try {
    await bash('true', { ...where, confine: 'workspace' });
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
