export function brokenLinks(site: string): string[];
