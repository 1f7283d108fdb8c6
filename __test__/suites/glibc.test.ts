import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isOldEnough, newestOf } from '../../scripts/glibc.mjs';
import { GLIBC } from '../../scripts/platform.mjs';

test('the newest glibc of a binary is found by number, not by text', () => {
  const text =
    '  0x0010: Name: GLIBC_2.9  Flags: none\n  0x0020: Name: GLIBC_2.34\n  0x0030: Name: GLIBC_2.2.5\n  GCC_3.0';
  expect(newestOf(text)).toBe('2.34');
  expect(newestOf('Name: GCC_3.0')).toBeNull();
});

test('released binaries need no newer glibc than Node, and the page says which', () => {
  expect(['2.9', '2.28', '2.2.5', '1.99'].every(isOldEnough)).toBe(true);
  expect(['2.29', '2.34', '3.0'].some(isOldEnough)).toBe(false);
  expect(readFileSync(new URL('../../docs/platforms.md', import.meta.url), 'utf8')).toContain(`need glibc ${GLIBC} or`);
});
