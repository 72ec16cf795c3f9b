import type { RequestView } from '../../http/request-view.ts';

/** A request that was routed within a version. */
export interface RequestContext {
  readonly request: RequestView;
  /** The path as the router saw it: decoded, without a slash at its end. */
  readonly path: string;
  /** A decoded path parameter; undefined if the path has none of that name. */
  readonly param: (name: string) => string | undefined;
}
