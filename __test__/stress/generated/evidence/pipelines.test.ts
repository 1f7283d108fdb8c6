import { describe } from 'vitest';
import { testPipelines } from '../../../evidence/pipelines.ts';
import { isLinux } from '../../../support/index.ts';

describe.runIf(isLinux)('each pipeline in each way', () => {
  testPipelines(() => true);
});
