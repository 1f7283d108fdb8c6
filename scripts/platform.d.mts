/** The platform of this machine. */
export const here: string;
/** All platforms. */
export function platforms(): string[];
/** The file of a platform's addon. */
export function addon(platform: string): string;
/** The newest glibc that a released binary may need. */
export const GLIBC: string;
/** The program that runs commands on other machines. */
export const hostProgram: string;
