// Measurements of drafts in a host process. Times are in milliseconds.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { timed } from './recorded.mjs';

const shell = (cwd, command) => execFileSync('bash', ['-ec', command], { cwd, stdio: 'pipe' });

/** A script that makes `count` files in directories of 100. */
const making = (count) => `for at in $(seq 0 ${count / 100 - 1}); do mkdir $at
  for n in $(seq 0 99); do echo $at $n >$at/$n; done; done`;

/** Runs in a new directory, with its drafts beside it, and removes both. */
async function withProject(use) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'agent-bash-drafted-')));
  const [root, dir] = [join(place, 'root'), join(place, 'drafts')];
  mkdirSync(root);
  try {
    return await use(root, dir);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export async function expectSuccess(command, options) {
  const { bash } = await import('agent-bash');
  const { exitCode, stderr } = await bash(command, { timeoutMs: 600_000, ...options });
  if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}: ${stderr}`);
}

/** Runs a command in a draft of a directory, and commits it. Returns the time without the commit. */
export async function inDraft(command, root) {
  const { openDraft } = await import('agent-bash');
  const draft = await openDraft({ root, dir: join(root, '../drafts') });
  await expectSuccess('true', { draft, warm: false });
  const [time] = await timed(() => expectSuccess(command, { draft, warm: false }));
  const { conflicts, skipped } = await draft.commit();
  if (conflicts.length + skipped.length > 0) throw new Error(`${command}: not committed: ${conflicts} ${skipped}`);
  await draft.close();
  return [time];
}

/** Opens `count` drafts, each for a first command and `later` more. Returns the times of each. */
const draftStarts = (count, later) =>
  withProject(async (root, dir) => {
    const { openDraft } = await import('agent-bash');
    const times = { open: [], first: [], draft: [], confined: [] };
    for (let at = 0; at <= count; at++) {
      const [open, draft] = await timed(() => openDraft({ root, dir }));
      const [first] = await timed(() => expectSuccess('true', { draft }));
      if (at > 0) {
        times.open.push(open);
        times.first.push(first);
      }
      for (let n = 0; n < later; n++) {
        await sleep(10);
        const [drafted] = await timed(() => expectSuccess('true', { draft }));
        await sleep(10);
        const [confined] = await timed(() => expectSuccess('true', { cwd: root, confine: 'workspace' }));
        if (at > 0 && n > 0) {
          times.draft.push(drafted);
          times.confined.push(confined);
        }
      }
      await draft.discard();
    }
    return times;
  });

/** Commits `fresh` new files in one directory, and `changed` ones in a tree of `all`. Returns times. */
const draftCommits = (fresh, changed, all) =>
  withProject(async (root, dir) => {
    const { openDraft } = await import('agent-bash');
    shell(root, making(all));
    const one = await openDraft({ root, dir });
    await expectSuccess(`mkdir new; cd new; ${making(fresh)}`, { draft: one });
    await one.changes();
    const [whole, { applied }] = await timed(() => one.commit());
    if (applied.length !== 1) throw new Error(`${applied.length} paths for a new directory`);
    const two = await openDraft({ root, dir });
    await expectSuccess(`for at in $(seq 0 ${changed / 100 - 1}); do for f in $at/*; do echo new >$f; done; done`, {
      draft: two,
    });
    await two.changes();
    const [looked, { counts }] = await timed(() => two.changes());
    if (counts.modified !== changed) throw new Error(`${counts.modified} changed files`);
    const [part, committed] = await timed(() => two.commit());
    if (committed.applied.length !== changed) throw new Error(`${committed.applied.length} committed files`);
    return { whole, looked, part };
  });

export const drafted = { draftStarts, draftCommits };
