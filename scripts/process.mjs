/** Running programs from the scripts. Only Node's own modules: this is used before `npm ci`. */
import { spawn } from 'node:child_process';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the clone. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** npm, as a program and its first arguments: the one that runs us, if one does, else the one on the PATH. */
export const npm =
  basename(process.env.npm_execpath ?? '') === 'npm-cli.js' ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** A program of a development dependency. */
export const bin = (name) => [join(root, 'node_modules', '.bin', name)];

/** A program that failed; `output` is what it printed, if that was kept. */
export class Failed extends Error {
  constructor(message, output = '') {
    super(message);
    this.output = output;
  }
}

/** This Node first on the PATH, so that whatever a child starts with `node` is the same one. */
function environment(extra) {
  return { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), ...extra };
}

/**
 * Runs a program in the root of the clone and resolves to its exit code and output.
 *
 * `output`: `'inherit'` (default) shows it, `'keep'` collects it, `'both'` does both. `limitMs` ends the whole process group when it is
 * over (default none). `allowFailure`: resolve whatever the exit code is; by default another than 0 is a `Failed`.
 */
export function run(program, args, { output = 'inherit', env = {}, cwd = root, limitMs = 0, allowFailure = false } = {}) {
  const [file, ...first] = [program].flat();
  const name = [basename(file), ...first.map((arg) => basename(arg)), ...args].join(' ');
  return new Promise((resolve, reject) => {
    const grouped = limitMs > 0;
    const child = spawn(file, [...first, ...args], {
      cwd,
      env: environment(env),
      stdio: ['ignore', ...(output === 'inherit' ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
      detached: grouped,
    });
    let text = '';
    let late = false;
    const take = (to) => (chunk) => {
      text += chunk;
      if (output === 'both') to.write(chunk);
    };
    child.stdout?.setEncoding('utf8').on('data', take(process.stdout));
    child.stderr?.setEncoding('utf8').on('data', take(process.stderr));
    const end = () => {
      try {
        process.kill(grouped ? -child.pid : child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const timer = grouped && setTimeout(() => (late = true) && end(), limitMs);
    process.once('exit', end);
    const settle = (act) => {
      clearTimeout(timer);
      process.removeListener('exit', end);
      act();
    };
    child.on('error', (error) =>
      settle(() =>
        reject(new Failed(error.code === 'ENOENT' ? `${basename(file)} was not found` : `${name}: ${error.message}`)),
      ),
    );
    child.on('close', (code, signal) =>
      settle(() => {
        if (code === 0 || (allowFailure && !late)) return resolve({ code: code ?? 1, output: text });
        const how = late ? `was ended after ${limitMs / 1000} s` : signal ? `was ended by ${signal}` : `exited with ${code}`;
        reject(new Failed(`${name} ${how}`, text));
      }),
    );
  });
}

/** Seconds since `start` (of `performance.now()`), for people. */
export const seconds = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;
