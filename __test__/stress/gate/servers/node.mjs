/** Node's servers of HTTP (llhttp) and TLS (OpenSSL). */
import { createServer } from 'node:http';
import tls from 'node:tls';
import { certificates, listen, names, seen } from './shared.mjs';

const web = createServer((request, response) => {
  request.resume();
  response.end(seen(request.headers.host, request.url, request.httpVersion));
});
listen(web, 'http node');

const secure = tls.createServer(certificates('default.test'));
for (const name of names) secure.addContext(name, certificates(name));
secure.on('tlsClientError', () => {});
listen(secure, 'tls node');
