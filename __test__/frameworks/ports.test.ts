import { describe, expect, it } from 'vitest';
import { exposing } from '../../ts/frameworks/shared/ports.ts';

describe('exposing', () => {
  it.each([
    ['no confinement', undefined, undefined],
    ['confinement that is off', 'off', 'off'],
    ['a profile', 'workspace', { profile: 'workspace', expose: [1, 2] }],
    ['options', { write: ['a'], expose: [3] }, { write: ['a'], expose: [3, 1, 2] }],
    // The core refuses `expose` beside it.
    ['the whole network', { network: 'full' }, { network: 'full' }],
    ['a mistake, which is found later', 5, { profile: 5, expose: [1, 2] }],
    ['nothing, which is found later', null, null],
  ])('%s', (_, confine, expected) => {
    expect(exposing(confine as never, [1, 2])).toEqual(expected);
  });

  it('without ports leaves all as it is', () => {
    expect(exposing('workspace', [])).toBe('workspace');
  });
});
