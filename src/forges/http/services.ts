import type { ForgeHttp } from './forge-http.ts';

/** The services that forges use. */
export interface ForgeServices {
  readonly http: ForgeHttp;
  /** Returns the current time in ms. */
  readonly now: () => number;
}
