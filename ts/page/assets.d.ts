/** The browser app, as `scripts/page-app.mjs` bundles it from `ts/page/app/`. */
declare module 'agent-bash:page-app' {
  export const script: string;
  export const style: string;
}
