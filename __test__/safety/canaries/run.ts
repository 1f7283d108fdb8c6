import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { folder } from '../../support/index.ts';
import { noMisses } from '../support.ts';
import { type Case, faults } from './cases.ts';

/** Commands that one shell runs, one behind the other. */
const BATCH = 200;

/** Runs each command by a bash of its own, for at most 0.7 s. A command that runs the canary leaves a file. */
const SCRIPT = `i=0
while IFS= read -r -d '' text && IFS= read -r -d '' script; do
  printf '%s\\n' "$text" > text
  CANARY=$PWD/ran.$i timeout -k 0.2 0.7 bash -c "$script" < /dev/null > /dev/null 2>&1
  i=$((i + 1))
done < cases
echo $i`;

const CANARY = '#!/bin/sh\n: > "$CANARY"\necho 1\n';

/** The cases that run the canary, tried in real shells without network in a directory of their own. */
async function running(batch: Case[]): Promise<Case[]> {
  const cwd = folder();
  mkdirSync(join(cwd, 'dir'));
  for (const name of ['x', 'dir/ls']) writeFileSync(join(cwd, name), CANARY, { mode: 0o755 });
  writeFileSync(join(cwd, 'cases'), batch.map(({ text, script }) => `${text}\0${script}\0`).join(''));
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/nowhere', LC_ALL: 'C.UTF-8' };
  const result = await bash(SCRIPT, { cwd, env, confine: { network: 'none' }, timeoutMs: 200_000 });
  if (result.stdout.trim() !== `${batch.length}`) throw new Error(`the batch ended early: ${result.stderr}`);
  const ran = new Set(readdirSync(cwd).filter((name) => name.startsWith('ran.')));
  return batch.filter((_, at) => ran.has(`ran.${at}`));
}

/** Tries the cases, and fails if a judgement let the canary run. Returns how many ran it. */
export async function tried(cases: Iterable<Case>): Promise<{ tried: number; ran: number }> {
  const all = [...cases];
  const wrong: string[] = [];
  let ran = 0;
  let from = 0;
  const work = async () => {
    while (from < all.length) {
      const batch = all.slice(from, from + BATCH);
      from += BATCH;
      const found = await running(batch);
      ran += found.length;
      wrong.push(...found.flatMap(faults));
    }
  };
  await Promise.all([work(), work()]);
  noMisses(wrong);
  return { tried: all.length, ran };
}
