import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { hasProgram } from './capability.ts';
import { librariesOf, unpacked } from './debian.ts';

/** Programs whose package, or whose file in it, has another name. */
const PACKAGED: Record<string, { from?: string; file?: string }> = {
  top: { from: 'procps' },
  vim: { file: 'vim.basic' },
};

/**
 * Returns the PATH on which a program is found: this process's own, or one with Debian's package of it, unpacked beside
 * the dependencies. `undefined` if it cannot be had.
 */
export function pathWith(program: string): string | undefined {
  const path = process.env.PATH ?? '';
  if (hasProgram(program)) return path;
  const { from = program, file = program } = PACKAGED[program] ?? {};
  const place = unpacked(from);
  const real =
    place && ['usr/bin', 'bin'].map((bin) => join(place, bin, file)).find((candidate) => existsSync(candidate));
  if (!place || !real) return undefined;
  const bin = join(place, 'with-libraries');
  const script = join(bin, program);
  mkdirSync(bin, { recursive: true });
  if (!existsSync(script)) {
    // Whole at once: another test file may look for it.
    const draft = `${script}.${process.pid}`;
    const text = `#!/bin/bash\nLD_LIBRARY_PATH='${librariesOf(place)}' exec -a ${program} '${real}' "$@"\n`;
    writeFileSync(draft, text, { mode: 0o755 });
    renameSync(draft, script);
  }
  return [bin, path].join(delimiter);
}
