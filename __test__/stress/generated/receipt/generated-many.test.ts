import { compare } from '../../../receipt/generated.ts';
import { linuxTest } from '../../../support/index.ts';

linuxTest('500 generated commands: a known receipt is that of a full comparison', { timeout: 300_000 }, () =>
  compare({ from: 61, to: 560, kept: false }),
);
