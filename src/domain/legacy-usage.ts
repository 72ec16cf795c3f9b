import type { Viewer } from '../auth/viewer.ts';

/** One deprecated route, as it is documented: `GET /v1/sessions` of `v1`. */
export interface LegacyRoute {
  readonly version: string;
  readonly route: string;
}

/** Counts the calls of legacy routes. */
export interface LegacyUsage {
  /** Counts one call. Calls without a key are not counted. */
  record(viewer: Pick<Viewer, 'apiKeyId' | 'enterpriseId'>, called: LegacyRoute): void;
}
