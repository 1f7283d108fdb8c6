import { readFileSync, readlinkSync } from 'node:fs';
import type { BashOptions } from 'agent-bash';
import { expect, inject } from 'vitest';
import { type Process, processes } from '../processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by the project of vitest.config.ts that confines commands. */
    confined: true;
  }
}

/** Whether every command of this project is confined, unless its call says something else: the project `confined`. */
export const confined = inject('confined') === true;

/** A module that confines the commands of its process or thread by default. */
export const CONFINED_BY_DEFAULT = new URL('by-default.mjs', import.meta.url).href;

/** The options with which a command reaches these directories of a test, besides its own. */
export function reaching(...directories: string[]): Pick<BashOptions, 'confine'> {
  return confined ? { confine: { write: directories } } : {};
}

/** The options with which this machine reaches a port of a command's loopback. */
export function exposing(port: number): Pick<BashOptions, 'confine'> {
  return confined ? { confine: { expose: [port] } } : {};
}

/** The field that results of sandboxes have only if their commands are confined. */
export const held = confined ? { confinement: expect.any(Object) } : {};

/** The number outside of a process in `directory` that has this number in the world of its confinement. */
export function outside(pid: number, directory: string): number | undefined {
  const isIt = ({ pid: outer }: Process) => {
    try {
      const [, ...inner] =
        /^NSpid:(.*)$/m
          .exec(readFileSync(`/proc/${outer}/status`, 'utf8'))?.[1]
          ?.trim()
          .split('\t') ?? [];
      return Number(inner.at(-1)) === pid && readlinkSync(`/proc/${outer}/cwd`) === directory;
    } catch {
      return false;
    }
  };
  return processes().find(isIt)?.pid;
}
