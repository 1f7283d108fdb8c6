import type { Disk } from './disk.ts';
import { invalid } from './errors.ts';
import { locate } from './file.ts';
import type { Sandbox } from './types.ts';

/** The file methods of a sandbox whose directory is `folder`. */
export function sandboxFiles(folder: string, disk: Disk): Pick<Sandbox, 'readFile' | 'writeFiles' | 'mkDir'> {
  return {
    async readFile(file) {
      return disk.readable(locate(folder, file?.path, file?.cwd));
    },

    async writeFiles(files) {
      if (!Array.isArray(files)) throw invalid('files must be an array of { path, content }');
      const located = files.map((file) => {
        if (typeof file?.content !== 'string' && !(file?.content instanceof Uint8Array))
          throw invalid('content must be a string or a Uint8Array');
        return { path: locate(folder, file.path), content: file.content };
      });
      for (const { path, content } of located) await disk.write(path, content);
    },

    async mkDir(path) {
      await disk.makeFolder(locate(folder, path));
    },
  };
}
