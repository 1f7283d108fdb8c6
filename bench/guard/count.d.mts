export function instructionsOf(text: string): Record<string, number>;
export function callsOf(texts: Map<string, string>): number;
