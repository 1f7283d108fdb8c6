import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { hostResult, isRoot, testNeeding } from '../support/index.ts';

const HIDDEN = 'mount --bind /dev/null /dev/ptmx && mount --bind /dev/null /dev/pts/ptmx && exec "$@"';

function canHide(): boolean {
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', HIDDEN, 'sh', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A machine on which `/dev/ptmx` is missing, as in some containers. */
const without = isRoot ? testNeeding('mount namespaces', canHide(), 'linux') : testNeeding('root', true).skip;

without('where the system has no terminals that is said, and the tool goes on with pipes', async () => {
  const seen = await hostResult(
    `
    import { PtySession } from 'agent-bash';
    import { createBashTool } from 'agent-bash/ai';
    const session = new PtySession();
    const codes = [];
    for (let n = 0; n < 2; n++) await session.start('true').catch(({ code, message }) => codes.push([code, message.slice(0, 32)]));
    let last;
    const tool = createBashTool({ terminal: { onStart: () => { throw new Error('none was started'); } } });
    for await (const output of tool.execute({ command: 'tty || echo on pipes' }, { toolCallId: '1' })) last = output;
    console.log(JSON.stringify({ codes, stdout: last.stdout, notes: last.notes }));
  `,
    { before: `set -- unshare -m sh -c '${HIDDEN}' sh "$@"` },
  );
  const refused = ['ERR_BASH_UNSUPPORTED', 'no pseudo-terminal could be had:'];
  expect(seen).toEqual({
    codes: [refused, refused],
    stdout: 'not a tty\non pipes\n',
    notes: [expect.stringMatching(/^the command ran without a terminal: no pseudo-terminal could be had: /)],
  });
});
