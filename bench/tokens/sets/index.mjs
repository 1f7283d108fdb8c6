// The sets of real outputs. A record is { set, session, command, exitCode, output, stderr? }.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { openRepository } from './git.mjs';
import * as pi from './pi.mjs';
import * as recorded from './recorded.mjs';
import * as specstory from './specstory.mjs';
import * as sweAgent from './swe-agent.mjs';
import * as tokf from './tokf.mjs';
import * as vexp from './vexp.mjs';

/** The sets of others. They are made from a git directory and kept outside of the clone. */
export const FETCHED = { specstory, pi, tokf, vexp, 'swe-agent': sweAgent };

/** The directory with the sets that were made. */
export const CACHE =
  process.env.AGENT_BASH_TOKEN_SETS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'agent-bash-bench', 'token-sets');

const fileOf = (name) => join(CACHE, `${name}.jsonl`);

/** Makes a set from a git directory of its repository. Returns the commit and the number of records. */
export function make(name, directory) {
  const repository = openRepository(directory);
  const lines = [];
  for (const record of FETCHED[name].records(repository)) lines.push(JSON.stringify({ set: name, ...record }));
  if (lines.length === 0) throw new Error(`no outputs found in ${directory}`);
  mkdirSync(CACHE, { recursive: true });
  const file = fileOf(name);
  writeFileSync(`${file}.new`, `${lines.join('\n')}\n`);
  renameSync(`${file}.new`, file);
  return { commit: repository.commit, count: lines.length };
}

/** Returns all records that are there, and the names of the sets that are missing. */
export function load() {
  const found = [...recorded.records()].map((record) => ({ set: 'recorded', ...record }));
  const missing = [];
  for (const name of Object.keys(FETCHED)) {
    try {
      const text = readFileSync(fileOf(name), 'utf8');
      for (const line of text.trim().split('\n')) found.push(JSON.parse(line));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      missing.push(name);
    }
  }
  return { records: found, missing };
}
