import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { folder, packageRoot, skippedWithout, stateFolder } from '../support/index.ts';
import { draftTest } from './support.ts';

/** Linux 6.6 has the first tmpfs on which a draft can be: its files have attributes of users. */
const [major = 0, minor = 0] = release().split('.').map(Number);
const isDraftable = major > 6 || (major === 6 && minor >= 6);

/** Mounts need a namespace, which only root may make here. */
const asRoot =
  process.getuid?.() !== 0 ? skippedWithout('root') : isDraftable ? draftTest : skippedWithout('Linux 6.6');

const tmpfs = (size: string) => `mount -t tmpfs -o mode=755,size=${size} x "$disk"`;

/** An overlay, as the file system of a container is. */
const OVERLAY = `${tmpfs('50%')}; mkdir "$disk"/{l,u,w}
  mount -t overlay -o "lowerdir=$disk/l,upperdir=$disk/u,workdir=$disk/w" x "$disk"`;

/** Runs a module in a mount namespace, in which a directory is on a disk of its own. Returns what it says. */
function onDisk(disk: string, source: string, mount = tmpfs('50%')): Record<string, unknown> {
  const state = stateFolder();
  const begin = `set -e; disk=${disk}; ${mount}; cd ${packageRoot}; exec "$@"`;
  const text = `import { bash, drafts, openDraft, undo } from 'agent-bash';
    import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
    const disk = ${JSON.stringify(disk)};
    const said = {};
    ${source}
    console.log(JSON.stringify(said));`;
  const node = [process.execPath, '--input-type=module', '--eval', text];
  const env = { ...process.env, NODE_OPTIONS: '', XDG_STATE_HOME: state };
  const argv = ['-m', '--propagation', 'private', 'bash', '-c', begin, 'bash', ...node];
  return JSON.parse(execFileSync('unshare', argv, { encoding: 'utf8', env }));
}

/** Commits and takes back the draft of `root`. */
const WORK = `writeFileSync(root + '/a', 'a\\n');
  const draft = await openDraft({ root });
  await bash('echo mine >>a; mkdir -p new/dir; seq 5 >new/dir/f; ln -s f new/dir/l; ln new/dir/f hard; chmod 750 new', { draft });
  said.before = [readdirSync(root), readFileSync(root + '/a', 'utf8')];
  said.seen = (await bash('cat new/dir/l; ls -a ' + disk, { draft })).stdout;
  const { counts, conflicts } = await draft.changes();
  const committed = await draft.commit();
  said.applied = [counts, conflicts, committed.applied.length, committed.skipped, draft.state];
  said.after = [readdirSync(root), readFileSync(root + '/a', 'utf8'), readFileSync(root + '/new/dir/l', 'utf8')];
  said.mode = statSync(root + '/new').mode & 0o777;
  said.isOne = statSync(root + '/hard').ino === statSync(root + '/new/dir/f').ino;
  said.left = readdirSync(disk).flatMap((name) => name.includes('drafts') ? readdirSync(disk + '/' + name) : []);
  const undone = await undo(committed.undoId);
  said.undone = [undone.conflicts, undone.notCovered, readdirSync(root), readFileSync(root + '/a', 'utf8')];`;

const WORKED = {
  before: [['a'], 'a\n'],
  applied: [{ created: 5, modified: 1, deleted: 0, renamed: 0 }, [], 3, [], 'committed'],
  after: [['a', 'hard', 'new'], 'a\nmine\n', '1\n2\n3\n4\n5\n'],
  mode: 0o750,
  isOne: true,
  left: [],
  undone: [[], [], ['a'], 'a\n'],
};

describe('a project on another disk than the directory of drafts', () => {
  asRoot('has the room of its draft on that disk, out of sight of commands', () => {
    const disk = folder();
    const source = `const root = disk + '/project'; mkdirSync(root); ${WORK}`;
    const { seen, ...said } = onDisk(disk, source);
    expect(said).toEqual(WORKED);
    expect(String(seen).split('\n')).toEqual(expect.arrayContaining(['1', 'project']));
    const sees = `const root = disk + '/project'; mkdirSync(root);
      const [draft, other] = [await openDraft({ root }), await openDraft({ root })];
      await bash('echo secret >mine', { draft });
      const place = readdirSync(disk).find((name) => name.startsWith('.agent-bash-drafts-'));
      said.rooms = readdirSync(disk + '/' + place).length;
      const look = 'cat ' + disk + '/.agent-bash-drafts-*/*/upper/mine; ls -A ' + disk + '/' + place;
      said.look = (await bash(look, { draft: other })).stdout;
      await draft.discard(); await other.discard();
      said.left = readdirSync(disk + '/' + place).length;`;
    expect(onDisk(disk, sees)).toEqual({ rooms: 2, look: '', left: 0 });
  });

  asRoot('that begins at the project: a commit copies, and leaves nothing else', () => {
    const disk = folder();
    const { seen, ...said } = onDisk(disk, `const root = disk; ${WORK}`);
    expect(said).toEqual(WORKED);
    expect(seen).toBe('1\n2\n3\n4\n5\n.\n..\na\nhard\nnew\n');
  });

  asRoot('keeps a tenth of that disk free: a command that takes it is ended', () => {
    const disk = folder();
    const source = `const root = disk + '/project'; mkdirSync(root);
      const draft = await openDraft({ root });
      const grow = 'while :; do : $((n++)); head -c 262144 /dev/zero >f$n; sleep 0.002; done';
      const { status, notes } = await bash(grow, { draft, timeoutMs: 60_000 });
      said.ended = [status, notes.join()];
      await draft.discard();`;
    const says = expect.stringMatching(
      /^maxBytes: the disk of the draft has .* left, which is less than a tenth \(6 MiB\)/,
    );
    expect(onDisk(disk, source, tmpfs('60m'))).toEqual({ ended: ['signaled', says] });
  });

  asRoot('that is an overlay: changes are kept in the directory of drafts, and a commit copies', () => {
    const disk = folder();
    const source = `const root = disk + '/project'; mkdirSync(root); ${WORK}`;
    const { seen, ...said } = onDisk(disk, source, OVERLAY);
    expect(said).toEqual(WORKED);
  });

  asRoot('that is an overlay, with the directory of drafts there as well, is refused with a remedy', () => {
    const disk = folder();
    const source = `const [root, dir] = [disk + '/project', disk + '/drafts'];
      mkdirSync(root);
      await openDraft({ root, dir }).catch(({ code, reason, message }) => (said.refused = [code, reason, message]));
      said.left = [readdirSync(dir), readdirSync(root)];`;
    const says = expect.stringContaining('name by `dir` a directory on another one, as /dev/shm or a volume is');
    const refused = ['ERR_BASH_DRAFT', 'unsupported', says];
    expect(onDisk(disk, source, OVERLAY)).toEqual({ refused, left: [[], []] });
  });

  asRoot('goes on with a fork, and with a part of a commit', () => {
    const disk = folder();
    mkdirSync(join(disk, 'unused'));
    const source = `const root = disk;
      const draft = await openDraft({ root });
      await bash('echo 1 >a; echo 2 >b', { draft });
      const fork = await draft.fork();
      await draft.commit({ paths: ['a'] });
      said.base = readdirSync(root);
      said.draft = (await bash('ls; cat a b', { draft })).stdout;
      said.fork = (await bash('rm a; ls', { draft: fork })).stdout;
      await fork.discard();
      await draft.discard();
      said.drafts = (await drafts()).length;`;
    expect(onDisk(disk, source)).toEqual({ base: ['a'], draft: 'a\nb\n1\n2\n', fork: 'b\n', drafts: 0 });
  });
});
