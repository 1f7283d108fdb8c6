import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Project } from '../wire.ts';

/** Most directories whose project is remembered. */
const KNOWN = 1_000;

/** Finds and remembers the projects of directories. */
export class Projects {
  readonly #known = new Map<string, Project>();

  /** Returns the repository that a directory belongs to. That of a target, and one outside of all, is its own. */
  of({ cwd, target }: { cwd: string; target: string | null }): Project {
    if (target !== null) return projectAt(cwd);
    const known = this.#known.get(cwd);
    if (known) return known;
    const project = projectAt(rootOf(cwd));
    if (this.#known.size >= KNOWN) this.#known.clear();
    this.#known.set(cwd, project);
    return project;
  }
}

function projectAt(path: string): Project {
  return { path, name: basename(path) || path };
}

function rootOf(cwd: string): string {
  if (!cwd.startsWith('/')) return cwd;
  for (let path = cwd; ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path;
    if (path === dirname(path)) return cwd;
  }
}
