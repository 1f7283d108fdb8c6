// The costs of drafts: to open one, its first command and later ones, and commits.
import { withHost } from '../host/index.mjs';
import { median } from '../stats.mjs';
import { milliseconds, ratio, time } from '../table.mjs';

export const title = 'drafts';

/** Files of a new directory, changed files, and all files of the tree. */
const FILES = [20_000, 2_000, 50_000];

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const { open, first, draft, confined } = await withHost({}, (host) => host.ask('draftStarts', short ? 5 : 20, 10));
  const commits = [];
  for (let round = 0; round < (short ? 1 : 3); round++) {
    commits.push(await withHost({}, (host) => host.ask('draftCommits', ...FILES)));
  }
  const copies = await withHost({}, (host) => host.ask('copyOnce', folder));
  const p50 = (name) => median(commits.map((one) => one[name]));
  const note = `${milliseconds(median(draft))} beside ${milliseconds(median(confined))}`;
  return [
    time('openDraft', median(open), { reach: { max: 5 } }),
    time('first command', median(first), { reach: { max: 12 } }),
    ratio('true: draft ÷ confined', median(draft) / median(confined), { reach: { max: 1.05 }, note }),
    time('commit of 20,000 new files', p50('whole'), { reach: { max: 20 } }),
    time('commit of 2,000 changed files of 50,000', p50('part'), { reach: { max: 300 } }),
    time('changes() there', p50('looked'), { reach: { max: 50 } }),
    ratio('a second copy: git worktree and npm ci ÷ draft', copies.worktree / copies.opened, {
      note: `${milliseconds(copies.worktree)} beside ${milliseconds(copies.opened)}`,
    }),
  ];
}
