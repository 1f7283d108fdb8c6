/** The name of a signal: `'SIGINT'`, or `'INT'` for short. */
export type SignalName = {
  [Name in NodeJS.Signals]: Name | (Name extends `SIG${infer Short}` ? Short : never);
}[NodeJS.Signals];
