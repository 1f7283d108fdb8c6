/** The browser app of the page. */
import { Server } from './base/server.ts';
import { addColours } from './output/colours.ts';
import { Page } from './page.ts';

const server = new Server();
addColours();
new Page(document.getElementById('page') as HTMLElement, server).start();
await server.signIn();
await server.listen();
