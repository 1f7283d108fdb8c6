import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bash, openDraft } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { type Check, fine, missing } from './check.ts';
import { existing, stateFolder } from './folders.ts';

const PREFIX = '.agent-bash-doctor-';

/** Checks drafts by one of an empty directory beside those of the user. */
export async function drafts(): Promise<Check> {
  const { ownName, removeLeft } = innerOf(bash);
  let folder: string | undefined;
  try {
    // Commands see nothing of what is in the directory itself.
    const parent = await existing(dirname(stateFolder()));
    removeLeft(parent, PREFIX);
    folder = mkdtempSync(join(parent, `${PREFIX}${ownName()}-`));
    const [root, dir] = [join(folder, 'root'), join(folder, 'drafts')];
    mkdirSync(root);
    const draft = await openDraft({ root, dir, keep: 'process' });
    try {
      await bash('true', { draft, ledger: false });
      await draft.discard();
    } finally {
      await draft.close();
    }
    return fine('drafts', `can be had, on the file system of ${parent}`);
  } catch (error) {
    return missing('drafts', (error as Error).message, WITHOUT);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

const WITHOUT =
  'openDraft and agent-bash draft fail; allow user namespaces, and keep projects and drafts on ext4, xfs or btrfs';
