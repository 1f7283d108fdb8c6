/** Running programs from the scripts. Only Node's own modules: the set-up uses this before there are any others. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the clone. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** npm, as a program and its first arguments: the one that runs us, if one does, else the one on the PATH. */
export const npm =
  basename(process.env.npm_execpath ?? '') === 'npm-cli.js' ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** A program of a development dependency. */
export const tool = (name) => [join(root, 'node_modules', '.bin', name)];

/** A program that failed; `output` is what it printed, if that was kept. */
export class Failed extends Error {
  constructor(message, output = '') {
    super(message);
    this.output = output;
  }
}

/** Milliseconds since `start` of `performance.now()`, for people. */
export const since = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;

/**
 * Runs a program in the root of the clone and resolves to its exit code, its stdout and its output (both streams).
 *
 * - `output`: `'show'` (default), `'keep'` to have it in the result, `'both'`.
 * - `limitMs`: when it is over, the program and all it started in its group are killed. Default: none.
 * - `allowFailure`: resolve whatever the exit code is. Default: another than 0 is a `Failed`.
 */
export function run(program, args, options = {}) {
  const { output = 'show', env = {}, cwd = root, limitMs = 0, allowFailure = false } = options;
  const [file, ...first] = [program].flat();
  const name = [file, ...first, ...args].map((word) => word.replace(`${root}/`, '')).join(' ');
  // This Node, or the one that is run, comes first on the PATH, so that whatever a child starts with `node` is the same one.
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
    const kill = () => {
      try {
        process.kill(limitMs > 0 ? -child.pid : child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
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
    // A group of its own gets no Ctrl-C from the terminal.
    const interrupted = () => process.exit(130);
    if (limitMs > 0) process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
    process.once('exit', kill);
    const settle = () => {
      clearTimeout(timer);
      process.off('exit', kill).off('SIGINT', interrupted).off('SIGTERM', interrupted);
    };

    let text = '';
    let stdout = '';
    const take = (chunk, to) => {
      text += chunk;
      if (to === process.stdout) stdout += chunk;
      if (output === 'both') to.write(chunk);
    };
    child.stdout?.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stdout));
    child.stderr?.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stderr));
    child.on('error', (error) => {
      settle();
      reject(new Failed(error.code === 'ENOENT' ? `${file} was not found` : `${name}: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      settle();
      if (code === 0 || (allowFailure && !late)) return resolve({ code: code ?? 1, stdout, output: text });
      const how = late ? `was killed after ${limitMs / 1000} s` : signal ? `ended by ${signal}` : `exited with ${code}`;
      reject(new Failed(`${name} ${how}`, text));
    });
  });
}

/** Whether a module is the script that Node was started with. */
export const isMain = (meta) => realpathSync(process.argv[1]) === fileURLToPath(meta.url);

/** Runs a script's main function; what it throws is printed, without a stack when it is a `Failed`, and the exit code is 1. */
export async function main(act) {
  try {
    await act();
  } catch (error) {
    if (error instanceof Failed) console.error(`${error.output}${error.message}`);
    else console.error(error);
    process.exitCode = 1;
  }
}
