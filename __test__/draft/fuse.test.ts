import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { canMount, folder, hasProgram, packageRoot, skippedWithout } from '../support/index.ts';
import { draftTest } from './support.ts';

const hasFuse = hasProgram('fuse-overlayfs') && existsSync('/dev/fuse') && canMount('-m');

/** A project on FUSE at `$D/served/project`, whose files are on the disk `$D/disk`, and another disk `$D/other`. */
const MOUNTED = `cd "$D" && mkdir disk other served
mount -t tmpfs -o size=64m disk disk && mount -t tmpfs -o size=65m other other && mkdir disk/{below,above,between}
fuse-overlayfs -o lowerdir=disk/below,upperdir=disk/above,workdir=disk/between served && mkdir -p served/project/{one,two}
echo 1 >served/project/one/file && cd "$HERE" && node --input-type=module -e "$SOURCE"; code=$?
umount "$D/served"; exit $code`;

const SOURCE = `
import { bash, openDraft } from 'agent-bash';
const root = process.env.D + '/served/project';
const refused = await openDraft({ root, dir: process.env.D + '/disk/drafts' }).catch((error) => error);
const draft = await openDraft({ root, dir: process.env.D + '/other/drafts' });
const { stdout } = await bash('mv one/file two/; mkdir -p two/three; echo 2 >two/three/file; cat two/file', { draft });
const { conflicts } = await draft.commit();
const { stdout: after } = await bash('echo */* */*/*', { cwd: root });
const { code, reason, message } = refused;
console.log(JSON.stringify({ code, reason, message, stdout, conflicts, after }));`;

// While overlayfs copies a directory up, nothing is renamed on the file system of its changes. A program that serves
// the directory from there, and renames something then, would wait, and the copy for it. No signal ends either.
(hasFuse ? draftTest : skippedWithout('fuse-overlayfs'))(
  'drafts of a directory on FUSE are refused where its program keeps its files, and are made elsewhere',
  () => {
    const place = folder();
    const XDG_STATE_HOME = join(place, 'state');
    const env = { ...process.env, D: place, HERE: packageRoot, SOURCE, NODE_OPTIONS: '', XDG_STATE_HOME };
    const words = ['-m', '--propagation', 'private', 'bash', '-c', MOUNTED];
    const found = JSON.parse(execFileSync('unshare', words, { encoding: 'utf8', env }));
    expect(found).toEqual({
      code: 'ERR_BASH_DRAFT',
      reason: 'unsupported',
      message: expect.stringContaining('the root is on FUSE'),
      stdout: '1\n',
      conflicts: [],
      after: 'two/file two/three two/three/file\n',
    });
  },
);
