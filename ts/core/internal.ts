import { version } from '../../package.json';

/**
 * Makes the key of something that the entries of this package pass to each other out of reach of callers who only know
 * the types: an option, which a spread copies as it copies others, or a property. The entries are bundled apart, so the
 * symbol belongs to the whole process. Two versions of the package in one process have different keys.
 */
export function internalKey(name: string): never {
  return Symbol.for(`agent-bash@${version}/${name}`) as never;
}
