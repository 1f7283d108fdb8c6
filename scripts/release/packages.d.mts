/** Fails unless the files of a package are those that its manifest lists, with their modes. */
export function filesAreListed(
  tarball: string,
  declared: { files: string[]; bundleDependencies?: string[] },
): Promise<void>;
