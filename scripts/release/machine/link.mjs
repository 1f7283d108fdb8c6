/**
 * A way to another machine, over TCP: `node link.mjs serve PORT` starts a shell for each connection there, `node
 * link.mjs HOST PORT PROGRAM…` starts a program by one, with the streams of this process.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [host, port, ...program] = process.argv.slice(2);

if (host === 'serve') {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const shell = spawn('bash', ['-s'], { stdio: ['pipe', 'pipe', 'ignore'], env });
    socket.pipe(shell.stdin).on('error', () => {});
    shell.stdout.pipe(socket).on('error', () => {});
    socket.once('close', () => shell.kill()).on('error', () => {});
  });
  server.listen(Number(port), '0.0.0.0', () => console.log('SERVING'));
} else {
  const socket = connect({ port: Number(port), host, allowHalfOpen: true });
  // The shell reads this line byte by byte, so the program finds all that follows.
  socket.write(`exec ${program.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}\n`);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  socket.once('close', () => process.exit()).once('error', () => process.exit(1));
}
