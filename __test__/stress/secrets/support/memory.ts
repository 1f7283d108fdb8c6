import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const PIECE = 4 * 1024 * 1024;

/** Whether a text is in the memory of a process. A part that cannot be read is left out. */
export function memoryHas(pid: number, text: string): boolean {
  const wanted = Buffer.from(text);
  const buffer = Buffer.alloc(PIECE);
  let file: number;
  let maps: string;
  try {
    maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
    file = openSync(`/proc/${pid}/mem`, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    for (const line of maps.split('\n')) {
      const [, from = '', to = '', rights = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
      if (!rights.startsWith('r') || from.startsWith('ffff')) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += PIECE - wanted.length) {
        if (has(file, buffer, Math.min(PIECE, end - at), at, wanted)) return true;
      }
    }
    return false;
  } finally {
    closeSync(file);
  }
}

function has(file: number, buffer: Buffer, length: number, at: number, wanted: Buffer): boolean {
  try {
    const count = readSync(file, buffer, 0, length, at);
    return buffer.subarray(0, count).includes(wanted);
  } catch {
    return false;
  }
}
