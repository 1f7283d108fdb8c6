import type { Way } from '../__test__/support/way.ts';

export const CORE: string[];
export const FIRST: string[];
export const SECOND: string[];
export const WAYS: Record<Way, string[]>;
export function globOf(entry: string): string;
export function testFiles(): string[];
export function tierOf(file: string): 'first' | 'second' | null;
export const UNCONFINED: Record<string, string[]>;
