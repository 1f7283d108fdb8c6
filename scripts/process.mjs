/** Runs programs for the scripts. Imports only Node's own modules, because the set-up runs before `npm ci`. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The root of the clone. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** npm as a program with its first arguments: the npm that runs this script, or else the one on the PATH. */
export const npm =
  basename(process.env.npm_execpath ?? '') === 'npm-cli.js' ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** A program of a development dependency. */
export const tool = (name) => [join(root, 'node_modules', '.bin', name)];

/** The failure of a program. `output` holds its output, if `run` kept it. */
export class Failed extends Error {
  constructor(message, output = '') {
    super(message);
    this.output = output;
  }
}

/** A failure because this machine lacks something, which no change of the sources could mend. */
export class Missing extends Failed {}

/** The time since `start` of `performance.now()`, in seconds, for people. */
export const since = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;

/**
 * Runs a program in the root of the clone and resolves to its exit code, its stdout and its output (both streams).
 *
 * - `output`: `'show'` (default), `'keep'` for the result, or `'both'`.
 * - `limitMs`: time after which the program and its process group are killed. Default: none.
 * - `onLine`: receives each line of stdout at once, if the output is kept.
 * - `allowFailure`: resolve for every exit code. By default an exit code other than 0 is a `Failed`.
 */
export function run(program, args, options = {}) {
  const { output = 'show', env = {}, cwd = root, limitMs = 0, onLine, allowFailure = false } = options;
  const [file, ...first] = [program].flat();
  const name = [file, ...first, ...args].map((word) => word.replace(`${root}/`, '')).join(' ');
  // The directory of this Node, or of the Node to run, is first on the PATH, so that `node` in a child starts the same
  // one.
  const node = basename(file) === 'node' ? file : process.execPath;
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const pipe = output === 'show' ? 'inherit' : 'pipe';
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...first, ...args], {
      cwd,
      env: { ...process.env, PATH, ...env },
      stdio: ['ignore', pipe, pipe],
      detached: limitMs > 0,
    });
    const watch = watchChild(child, limitMs);
    const kept = keepOutput(child, output === 'both');
    if (onLine && child.stdout) createInterface({ input: child.stdout }).on('line', onLine);
    child.on('error', (error) => {
      watch.end();
      reject(new Failed(error.code === 'ENOENT' ? `${file} was not found` : `${name}: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      const late = watch.end();
      if (code === 0 || (allowFailure && !late)) return resolve({ code: code ?? 1, ...kept });
      const how = late ? `was killed after ${limitMs / 1000} s` : signal ? `ended by ${signal}` : `exited with ${code}`;
      reject(new Failed(`${name} ${how}`, kept.output));
    });
  });
}

/**
 * Kills a child at its time limit and when this process exits. `end` stops that and returns whether the limit has
 * killed the child.
 */
function watchChild(child, limitMs) {
  const kill = () => {
    try {
      process.kill(limitMs > 0 ? -child.pid : child.pid, 'SIGKILL');
    } catch {
      // The program has exited by itself.
    }
  };
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      kill();
    },
    limitMs || 2 ** 31 - 1,
  );
  // A process group of its own receives no Ctrl-C from the terminal.
  const interrupted = () => process.exit(130);
  if (limitMs > 0) process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  process.once('exit', kill);
  return {
    end() {
      clearTimeout(timer);
      process.off('exit', kill).off('SIGINT', interrupted).off('SIGTERM', interrupted);
      return late;
    },
  };
}

/** Collects what a child prints, and prints it, too, if `shows`. */
function keepOutput(child, shows) {
  const kept = { stdout: '', output: '' };
  const take = (chunk, to) => {
    kept.output += chunk;
    if (to === process.stdout) kept.stdout += chunk;
    if (shows) to.write(chunk);
  };
  child.stdout?.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stdout));
  child.stderr?.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stderr));
  return kept;
}

/** Whether a module is the script that Node runs. */
export const isMain = (meta) => realpathSync(process.argv[1]) === fileURLToPath(meta.url);

/**
 * Runs a script's main function. Prints its error, a `Failed` and a wrong option without a stack, and sets the exit
 * code to 1.
 */
export async function main(act) {
  try {
    await act();
  } catch (error) {
    if (error instanceof Failed) console.error(`${error.output}${error.message}`);
    else if (String(error.code).startsWith('ERR_PARSE_ARGS')) console.error(error.message);
    else console.error(error);
    process.exitCode = 1;
  }
}
