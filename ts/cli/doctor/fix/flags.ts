import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { EXIT, Failure } from '../../console.ts';
import type { TargetFlags } from '../../destination.ts';
import { TARGETS, type Target } from './types.ts';

/** The options of `agent-bash doctor`, as commander gives them. */
export interface DoctorFlags extends TargetFlags {
  fix?: boolean;
  unfix?: boolean;
  yes?: boolean;
  json?: boolean;
  for?: Target;
  root?: string;
}

/** Parses the kind of machine that a plan is for. */
export function parseTarget(text: string): Target {
  const target = TARGETS.find((one) => one === text);
  if (target) return target;
  throw new InvalidArgumentError(`It must be ${TARGETS.slice(0, -1).join(', ')} or ${TARGETS.at(-1)}.`);
}

/** Throws for options that do not belong together. */
export function checkFlags(flags: DoctorFlags): void {
  const { fix, unfix } = flags;
  if ((fix || unfix) && flags.on)
    throw wrong(`--${fix ? 'fix' : 'unfix'} changes this machine: run it on ${flags.on.text}`);
  if (fix && unfix) throw wrong('--fix and --unfix contradict each other: give one of them');
  if (unfix && flags.for) throw wrong('--for belongs to --fix: --unfix removes what any plan has written');
  if (flags.for === 'apparmor' && process.platform !== 'linux')
    throw wrong('--for apparmor copies the supervisor, which is not that of Linux here: plan on Linux');
  const lone = (['yes', 'for', 'root'] as const).find((name) => flags[name] !== undefined);
  if (!fix && !unfix && lone) throw wrong(`--${lone} belongs to --fix: agent-bash doctor --fix --${lone}`);
}

/** Returns the directory that stands for `/`, as an absolute path. Throws if nothing can be written there. */
export function checkedRoot(root: string): string {
  const named = (what: string, remedy: string) => wrong(`--root: ${JSON.stringify(root)} ${what}: ${remedy}`);
  const found = statSync(root, { throwIfNoEntry: false });
  if (!found) throw named('does not exist', 'make the directory first, or give another one');
  if (!found.isDirectory()) throw named('is not a directory', 'give the directory that stands for / in the image');
  try {
    accessSync(root, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw named(`cannot be written (${code})`, 'change its mode, give another one, or run this as root');
  }
  return resolve(root);
}

const wrong = (message: string) => new Failure('ERR_BASH_INVALID_ARG', message, EXIT.usage);
