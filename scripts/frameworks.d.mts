export const ADAPTERS: Record<string, string[]>;
export const node: string;
export function adapters(): string[];
export function tested(): { adapter: string; versions: { name: string; version: string }[]; nodes: number[] }[];
