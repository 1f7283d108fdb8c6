import type { Way } from '../__test__/support/way.ts';

export const STRESS: string;
export const TESTS: string;
export function repeatedFiles(name: Way | 'confined'): string[];
