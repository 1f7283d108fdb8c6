import { describe, expect, test } from 'vitest';
import { folder, linuxTest } from '../support/index.ts';
import { Site } from '../undo/support.ts';
import { MAJORS, textOf } from './majors.ts';

describe.each(MAJORS)('with the SDK $major', ({ connect }) => {
  test('the input offers undo_run only with undo', async () => {
    const fields = async (options: object) => {
      const [bash] = await (await connect({ cwd: folder(), ...options })).tools();
      return Object.keys((bash as { inputSchema: { properties: object } }).inputSchema.properties);
    };
    expect(await fields({ undo: true })).toContain('undo_run');
    expect(await fields({})).not.toContain('undo_run');
  });

  linuxTest('a client reads what a command changed, and takes it back', async () => {
    const site = new Site();
    site.write('a');
    const { call } = await connect({ cwd: site.cwd, undo: { dir: site.dir } });
    const removed = await call('bash', { command: 'rm a' });
    expect(textOf(removed)).toContain('[changed: 1 deleted (a)');
    const { runId } = removed.structuredContent as { runId: string };
    const undone = await call('bash', { undo_run: runId });
    expect(undone).toMatchObject({ isError: false, structuredContent: { status: 'undone', exitCode: 0, runId } });
    expect(textOf(undone)).toContain('[undone: 1 restored (a)]');
    expect(site.read('a')).toBe('a\n');
    const again = await call('bash', { undo_run: 'no-such-run' });
    expect(again).toMatchObject({ isError: true, structuredContent: { code: 'ERR_BASH_UNDO' } });
  });
});
