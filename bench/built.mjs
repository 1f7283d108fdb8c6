// Programs of the benchmark that are built from one source file.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIRECTORY = fileURLToPath(new URL('../target/bench/', import.meta.url));

/** Compiles a program, unless this source was compiled before, and returns its path. `compiler` is without files. */
export function build(source, [compiler, ...flags]) {
  const digest = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const program = `${DIRECTORY}${basename(source, extname(source))}-${digest}`;
  if (!existsSync(program)) {
    mkdirSync(DIRECTORY, { recursive: true });
    const unfinished = `${program}.${process.pid}`;
    execFileSync(compiler, [...flags, '-o', unfinished, source], { stdio: ['ignore', 2, 2] });
    renameSync(unfinished, program);
  }
  return program;
}
