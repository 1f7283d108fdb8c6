import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One end for a program, the other read here. */
export interface Pipe {
  /** To be closed once the program has it. */
  writeEnd: number;
  /** Resolves with everything written, once no process can write any more or `enough` has been called. */
  text: Promise<string>;
  enough(): void;
}

interface Ends {
  readEnd: number;
  writeEnd: number;
}

const made: Ends[] = [];

/**
 * A real pipe, as `bash()` gives to its commands. Node's own are sockets, which some programs cannot reopen, and a file
 * is emptied when it is reopened through /dev/stdout.
 */
export function pipe(): Pipe {
  if (made.length === 0) stock();
  const { readEnd, writeEnd } = made.pop() as Ends;
  const socket = new Socket({ fd: readEnd, readable: true, writable: false });
  const chunks: Buffer[] = [];
  const text = new Promise<string>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
  });
  return { writeEnd, text, enough: () => void socket.destroy() };
}

export function closed({ writeEnd }: Pipe): void {
  closeSync(writeEnd);
}

/** Makes some at once, since it takes a program, and leaves no trace of them in the file system. */
function stock(): void {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
  try {
    const paths = Array.from({ length: 20 }, (_, index) => join(folder, String(index)));
    execFileSync('mkfifo', ['-m', '600', ...paths]);
    for (const path of paths) {
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      made.push({ readEnd, writeEnd: openSync(path, constants.O_WRONLY) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
