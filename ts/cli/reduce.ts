import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BashOptions, OutputStore } from 'agent-bash';
import { type Command, InvalidArgumentError } from 'commander';
import { KEEPING, type Kept, type Level } from '../reduce/keeping.ts';
import { EXIT, Failure } from './console.ts';

/** The options that make the output smaller for a model, as commander gives them. */
export interface ReduceFlags {
  reduce?: Level;
  budgetTokens?: number;
}

const LEVELS: readonly string[] = ['off', 'lossless', 'salient'] satisfies Level[];

/** Beginning of the directories with whole outputs. */
const PREFIX = 'agent-bash-whole-';
/** Time that a whole output is kept. */
const RETENTION_MS = 7 * 86_400_000;

/** Adds these options to a command. `fallback`: the level without them. */
export function addReduceFlags(command: Command, fallback: Level): Command {
  return command
    .option('--reduce <level>', `output for a model: off, lossless or salient (default: ${fallback})`, parseLevel)
    .option('--budget-tokens <count>', 'with salient, the tokens to keep within (default: 1000)', parseTokens);
}

function parseLevel(text: string): Level {
  if (LEVELS.includes(text)) return text as Level;
  throw new InvalidArgumentError('It must be off, lossless or salient.');
}

function parseTokens(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** Returns the option of `bash()`. A budget alone asks for `salient`. */
export function reduceOf({ reduce, budgetTokens }: ReduceFlags): BashOptions['reduce'] {
  if (budgetTokens === undefined) return reduce;
  if (reduce === 'off' || reduce === 'lossless') {
    throw new Failure('ERR_BASH_INVALID_ARG', `--budget-tokens is for --reduce salient, not ${reduce}`, EXIT.usage);
  }
  return { level: 'salient', budgetTokens };
}

/**
 * Returns the option of `bash()` by which whole outputs stay after this program: their reader comes later. The store
 * makes its directory with the first file.
 */
export function keeping(): Kept {
  sweep();
  const dir = join(tmpdir(), `${PREFIX}${randomBytes(8).toString('hex')}`);
  return { [KEEPING]: { store: new OutputStore({ dir }), recall: false, earlier: [] } };
}

/** Removes the directories of this user whose time is over. */
function sweep(): void {
  const oldest = Date.now() - RETENTION_MS;
  const uid = process.getuid?.();
  for (const name of namesIn(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(tmpdir(), name);
    try {
      const found = lstatSync(path);
      if (found.isDirectory() && found.uid === uid && found.mtimeMs < oldest) rmSync(path, { recursive: true });
    } catch {
      // Another run has removed it, or it cannot be removed: the next run tries again.
    }
  }
}

/** Returns the names in a directory. An unreadable directory has none, and nothing is left out of an output then. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
