type WithoutPrefix<Name> = Name extends `SIG${infer Rest}` ? Rest : never;

/** The name of a signal: `'SIGINT'`, or `'INT'` for short. */
export type SignalName = NodeJS.Signals | WithoutPrefix<NodeJS.Signals>;
