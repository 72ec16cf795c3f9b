import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { loadQuery, type PreloadedQuery, useRelayEnvironment } from 'react-relay';
import type { IEnvironment } from 'relay-runtime';
import type { sessionPageQuery } from '../__generated__/sessionPageQuery.graphql.ts';
import { sessionPageDocument } from './session-page-query.ts';

/** The time in ms for which a page that was loaded in advance is shown without a new request. */
const freshMs = 30_000;
/** The number of pages loaded in advance that are kept. */
const maxLoads = 5;

/** The data of one session page: loaded in advance, or when the page opens. */
export class SessionLoad {
  readonly reference: PreloadedQuery<sessionPageQuery>;
  readonly #at = performance.now();
  readonly #listeners = new Set<() => void>();
  #state: 'loading' | 'loaded' | 'failed' = 'loading';
  #users = 0;

  constructor(environment: IEnvironment, id: string) {
    const variables = { id, withTranscript: true };
    this.reference = loadQuery<sessionPageQuery>(environment, sessionPageDocument, variables, {
      fetchPolicy: 'network-only',
    });
    this.reference.source?.subscribe({
      complete: () => this.#end('loaded'),
      error: () => this.#end('failed'),
    });
  }

  readonly isDone = (): boolean => this.#state !== 'loading';

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** True if a page that opens now can show it. */
  isUsable(): boolean {
    return this.#users > 0 || (this.#state !== 'failed' && performance.now() - this.#at < freshMs);
  }

  isInUse(): boolean {
    return this.#users > 0;
  }

  /** Marks it as shown by a page. Returns a function that ends this; after the last one, `onUnused` is called. */
  use(onUnused: () => void): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
      // React's strict mode mounts a component again at once.
      setTimeout(() => this.#users === 0 && onUnused());
    };
  }

  #end(state: 'loaded' | 'failed'): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

const loadsOf = new WeakMap<IEnvironment, Map<string, SessionLoad>>();

/** Loads the page of a session in advance, unless its data is fresh. */
export function preloadSession(environment: IEnvironment, id: string): void {
  findLoad(environment, id);
}

/** The data of a session's page while it is shown. */
export function useSessionLoad(id: string): SessionLoad {
  const environment = useRelayEnvironment();
  const load = useMemo(() => findLoad(environment, id), [environment, id]);
  useEffect(() => load.use(() => drop(environment, id, load)), [environment, id, load]);
  useSyncExternalStore(load.listen, load.isDone);
  return load;
}

function findLoad(environment: IEnvironment, id: string): SessionLoad {
  const loads = loadsOf.get(environment) ?? new Map<string, SessionLoad>();
  loadsOf.set(environment, loads);
  const before = loads.get(id);
  if (before?.isUsable()) return before;
  if (before) drop(environment, id, before);
  const unused = [...loads].filter(([, load]) => !load.isInUse());
  for (const [other, load] of unused.slice(0, Math.max(0, unused.length - maxLoads + 1)))
    drop(environment, other, load);
  const load = new SessionLoad(environment, id);
  loads.set(id, load);
  return load;
}

function drop(environment: IEnvironment, id: string, load: SessionLoad): void {
  const loads = loadsOf.get(environment);
  if (loads?.get(id) === load) loads.delete(id);
  load.reference.dispose();
}
