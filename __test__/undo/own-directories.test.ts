import { describe, expect } from 'vitest';
import { exchangeTest, linuxTest } from '../support/index.ts';
import { Site } from './support.ts';

// What happens in a directory that the run made is not recorded, as long as nothing of before is in it. Each command
// fills the directory first, so that it is known by then.
const FILL = 'mkdir n n/sub; for i in 1 2 3; do echo $i > n/$i; echo $i > n/sub/$i; done; chmod 600 n/1; rm n/2';

describe('a thing of before that comes into a directory of the run is still recorded', () => {
  const WAYS: [how: string, command: string][] = [
    ['moved there, and changed', 'mv old n/old; echo changed > n/old; chmod 600 n/old'],
    ['moved there, and removed', 'mv old n/old; rm n/old'],
    ['moved there in its directory, and changed', 'mv dir n/dir; echo changed > n/dir/deep; rm n/dir/other'],
    ['moved through two directories, and changed', 'mkdir m; : > m/1; mv old n/old; mv n/old m/x; echo changed > m/x'],
    ['linked there, and changed', 'ln old n/link; echo changed > n/link'],
    ['linked there, and given another mode', 'ln old n/link; chmod 600 n/link'],
    ['behind a symbolic link', 'ln -s ../old n/s; echo changed > n/s; chmod 600 n/s; touch -d @1 n/s'],
    ['behind a symbolic link to its directory', 'ln -s ../dir n/s; echo changed > n/s/deep; rm n/s/other'],
    ['behind a symbolic link, the first thing there', 'mkdir m; ln -s ../old m/s; echo changed > m/s'],
    ['behind a symbolic link that moved there', 'mkdir m; : > m/1; ln -s ../old m/s; mv m/s n/s; echo changed > n/s'],
    ['behind another name of one', 'mkdir m; : > m/1; ln -s ../old m/s; ln -P m/s n/s; echo changed > n/s'],
    ['behind one that swapped', 'mkdir m; : > m/1; ln -s ../old m/s; python3 swap.py n/1 m/s; echo changed > n/1'],
    ['behind one that swapped back', 'mkdir m; : > m/1; ln -s ../old m/s; python3 swap.py m/s n/1; echo changed > n/1'],
    ['replaced by a file from there', 'mv n/3 old; mv n/sub/1 dir/deep'],
    ['in a directory that swaps with one of the run', 'python3 swap.py n dir; echo changed > n/deep; echo new > dir/4'],
    ['in the place of the directory', 'mv n gone; mv dir n; echo changed > n/deep; echo new > gone/5'],
    [
      'given another mode through a descriptor, after a new file',
      "python3 -c \"import os; new = open('new', 'w'); os.fchmod(new.fileno(), 0o600); os.fchmod(new.fileno(), 0o640); os.fchmod(os.open('old', 0), 0o600)\"",
    ],
    [
      'changed through a descriptor',
      'mv old n/old; exec 3<> n/old; python3 -c "import os; os.fchmod(3, 0o600)"; echo c >&3',
    ],
  ];

  const isExchange = ([, command]: [string, string]) => command.includes('swap.py');

  linuxTest.each(WAYS.filter((way) => !isExchange(way)))('%s', recorded);
  exchangeTest().each(WAYS.filter(isExchange))('%s', recorded);

  async function recorded(_: string, command: string) {
    const site = new Site();
    for (const name of ['old', 'dir/deep', 'dir/other']) site.write(name);
    site.write(
      'swap.py',
      'import ctypes, sys\nassert ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) == 0\n',
    );
    const before = site.tree();
    const { exitCode, runId, undo, stderr } = await site.run(`${FILL}; ${command}`);
    expect([exitCode, stderr, undo?.covers]).toEqual([0, '', 'all']);
    expect(site.tree()).not.toEqual(before);
    const { conflicts } = await site.undo(runId);
    expect(conflicts).toEqual([]);
    expect(site.tree()).toEqual(before);
  }

  linuxTest('a later run finds the directories of this one as those of before', async () => {
    const site = new Site();
    await site.run(FILL);
    const between = site.tree();
    const { runId } = await site.run('echo changed > n/1; echo x > n/sub/4; echo x > n/sub/5; rm n/sub/1');
    await site.undo(runId);
    expect(site.tree()).toEqual(between);
  });
});
