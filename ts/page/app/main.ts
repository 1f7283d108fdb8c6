/** The browser app of the page. */
import { Server } from './base/server.ts';
import { addColours } from './output/colours.ts';
import { Page } from './page.ts';

// A hash in the address is the code of another link.
addEventListener('hashchange', () => {
  if (location.hash !== '') location.reload();
});
const server = new Server();
addColours();
new Page(document.getElementById('page') as HTMLElement, server).start();
await server.signIn();
await server.listen();
