// Creates small files as `npm ci` does: many directories, a few files in each, several at a time. Prints the time, ms.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [, , root, count] = process.argv;
const FILES = 12;
const WIDTH = 8;
const contents = 'export const value = 1;\n'.repeat(60);

const started = performance.now();
let next = 0;
async function lane() {
  for (;;) {
    const directory = next++;
    if (directory * FILES >= count) return;
    const path = join(root, `package-${directory}`, 'lib');
    await mkdir(path, { recursive: true });
    for (let file = 0; file < FILES; file++) await writeFile(join(path, `file-${file}.js`), contents);
  }
}
await Promise.all(Array.from({ length: WIDTH }, lane));
process.stdout.write(String(performance.now() - started));
