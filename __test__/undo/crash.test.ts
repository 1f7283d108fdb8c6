import { describe } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { crash, crashUndo } from './crashing.ts';

describe('killed at a moment', () => {
  linuxTest('a host, a shim or an undo loses nothing', async () => {
    for (const seed of [1, 2]) {
      await crash('host', seed);
      await crash('shim', seed + 10);
      await crashUndo(seed + 20);
    }
  });
});
