/** A path of the server, with its method and a body for it. */
export interface Path {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

const READ = [
  ...['/', '/app.js', '/app.css', '/api/events', '/api/history', '/api/run?run=x', '/api/forecast?run=x'],
  ...['/api/draft?draft=x', '/api/draft-file?draft=x&path=x'],
];
const ACTIONS = ['sign-in', 'follow', 'stop', 'input', 'answer', 'undo', 'commit', 'discard'];

/** Every path of the server. */
export const PATHS: Path[] = [
  ...READ.map((path): Path => ({ method: 'GET', path })),
  ...ACTIONS.map((name): Path => ({ method: 'POST', path: `/api/${name}`, body: '{}' })),
];
