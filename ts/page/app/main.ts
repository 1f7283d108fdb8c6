/** The browser app of the page. */
import { Server } from './base/server.ts';
import { addColours } from './output/colours.ts';
import { Page } from './page.ts';

// Another link was opened in this tab.
addEventListener('hashchange', () => {
  if (location.hash !== '') location.reload();
});
const server = new Server();
addColours();
new Page(document.getElementById('page') as HTMLElement, server).start();
await server.signIn();
await server.listen();
