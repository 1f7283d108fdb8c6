import { linuxTest } from '../support/index.ts';
import { compare } from './generated.ts';

linuxTest('60 generated commands: a known receipt is that of a full comparison, without kept files', () =>
  compare({ to: 60, kept: false }),
);

linuxTest('60 generated commands: a known receipt is that of a full comparison, and an undo restores the tree', () =>
  compare({ to: 60, kept: true }),
);
