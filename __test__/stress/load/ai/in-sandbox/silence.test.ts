import { describe, expect, it } from 'vitest';
import { runTool } from '../../../../ai/fixtures/call.ts';
import { localSession, runOnly } from '../../../../ai/in-sandbox/places.ts';

const note = 'silence: the command wrote nothing for 2 s (idleTimeoutMs), which counts as its time limit';

describe('the limit on silence in a sandbox', () => {
  it('ends a command that writes nothing', async () => {
    const result = await runTool({ sandbox: localSession(), idleTimeoutMs: 2_000, graceMs: 0 }, 'echo up; sleep 60');
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 2_000, stdout: 'up\n' });
    expect(result.notes).toContain(note);
  });

  it('does not end a command that writes', async () => {
    const command = "for i in {1..20}; do printf '\\r'; sleep .15; done; echo end";
    const result = await runTool({ sandbox: localSession(), idleTimeoutMs: 2_000 }, command);
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
  });

  it('does not count where output comes with the exit', async () => {
    const result = await runTool({ sandbox: runOnly(), idleTimeoutMs: 300 }, 'sleep 1; echo end');
    expect(result).toMatchObject({ status: 'exited', stdout: 'end\n', notes: [] });
  });
});
