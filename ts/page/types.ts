/** Options of `startPage`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface PageOptions {
  /**
   * Whether commands can be stopped, answered, approved, denied and undone from the page. Without it the page is for
   * reading.
   *
   * @default false
   * @example const page = await startPage({ control: true });
   */
  control?: boolean | undefined;
  /**
   * The port on 127.0.0.1, a whole number from 0 to 65535. 0 is a free port.
   *
   * @default 0
   * @example const page = await startPage({ port: 7070 });
   */
  port?: number | undefined;
}

/** A page that is served. */
export interface Page {
  /**
   * `http://127.0.0.1:PORT/#CODE`. The code signs one tab in. After that, this property has a link with another code.
   */
  readonly url: string;
  readonly port: number;
  /** Ends the server and disconnects all tabs. May be called again. Commands go on. */
  close(): Promise<void>;
}

/** The files of the browser app. */
export interface Assets {
  script: string;
  style: string;
}
