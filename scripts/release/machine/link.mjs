/**
 * A link to a shell of another machine: `node link.mjs serve PORT` starts a shell for each connection, `node link.mjs
 * HOST PORT` connects its own streams to one.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [host, port] = process.argv.slice(2);

if (host === 'serve') {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const server = createServer((socket) => {
    const shell = spawn('bash', ['-s'], { stdio: ['pipe', 'pipe', 'ignore'], env });
    socket.pipe(shell.stdin).on('error', () => {});
    shell.stdout.pipe(socket).on('error', () => {});
    socket.once('close', () => shell.kill());
  });
  server.listen(Number(port), '0.0.0.0', () => console.log('SERVING'));
} else {
  const socket = connect(Number(port), host);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  socket.once('close', () => process.exit()).once('error', () => process.exit(1));
}
