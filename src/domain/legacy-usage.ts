import type { Viewer } from '../auth/viewer.ts';

/** One route that clients should leave, as it is documented: `GET /v1/sessions` of `v1`. */
export interface LegacyRoute {
  readonly version: string;
  readonly route: string;
}

/** Where calls of legacy routes are counted. */
export interface LegacyUsage {
  /** Counts one call. Who acts without a key is not counted. */
  record(viewer: Pick<Viewer, 'apiKeyId' | 'enterpriseId'>, called: LegacyRoute): void;
}
