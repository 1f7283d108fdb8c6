/** The newest version of glibc in the output of `readelf --version-info`. `null`: the binary needs none. */
export function newestOf(text: string): string | null;
/** Whether a version is at most the one that released binaries may need. */
export function isOldEnough(version: string): boolean;
