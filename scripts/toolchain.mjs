/** The standard libraries that the Rust of this machine has for other targets. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Missing, run } from './process.mjs';

/** Whether the standard library of a target is installed. */
export async function hasStandardLibrary(target) {
  const { stdout } = await run('rustc', ['--print', 'sysroot'], { output: 'keep' });
  return existsSync(join(stdout.trim(), 'lib', 'rustlib', target, 'lib'));
}

/** Installs the standard library of a target, which rustup knows. */
export async function addStandardLibrary(target) {
  if (await hasStandardLibrary(target)) return;
  try {
    await run('rustup', ['target', 'add', target], { output: 'keep', limitMs: 5 * 60_000 });
  } catch (error) {
    const what = `no standard library of Rust for ${target}, and \`rustup target add ${target}\` failed`;
    throw new Missing(what, `${error.output}${error.message}\n`);
  }
}
