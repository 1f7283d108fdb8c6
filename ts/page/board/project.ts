import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Project } from '../wire.ts';

/** Most directories whose project is remembered. */
const KNOWN = 1_000;

/** Finds and remembers the projects of directories. */
export class Projects {
  readonly #known = new Map<string, Project>();

  /** Returns the repository that a directory belongs to, or the directory itself. */
  of(cwd: string): Project {
    const known = this.#known.get(cwd);
    if (known) return known;
    const path = rootOf(cwd);
    const project = { path, name: basename(path) || path };
    if (this.#known.size >= KNOWN) this.#known.clear();
    this.#known.set(cwd, project);
    return project;
  }
}

function rootOf(cwd: string): string {
  if (!cwd.startsWith('/')) return cwd;
  for (let path = cwd; ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path;
    if (path === dirname(path)) return cwd;
  }
}
