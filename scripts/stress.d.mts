export const PARTS: { name: string; covers: string }[];
