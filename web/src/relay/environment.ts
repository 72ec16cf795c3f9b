import { Environment, type IEnvironment, Network, RecordSource, Store } from 'relay-runtime';
import { liveClient } from './live-client.ts';
import { fetchFor, subscribeOperation, throwFieldErrors } from './network.ts';
import { setViewerContext, type ViewerContext } from './viewer.ts';

/**
 * The Relay environment of a signed-in user, and the user. A new one is created for each sign-in, so that nothing of
 * one user is shown to the next.
 */
export interface ViewerEnvironment {
  readonly environment: Environment;
  readonly viewerContext: ViewerContext;
}

/** See {@link ViewerEnvironment}. */
export function createViewerEnvironment(): ViewerEnvironment {
  const viewerContext: ViewerContext = { signIn: null, viewerKey: null, organizationId: null };
  const network = Network.create(fetchFor(viewerContext), subscribeOperation);
  return { environment: createEnvironment(network), viewerContext };
}

const createEnvironment = (network: ReturnType<typeof Network.create>) =>
  new Environment({
    network,
    store: new Store(new RecordSource(), { gcReleaseBufferSize: 20 }),
    relayFieldLogger: throwFieldErrors,
  });

const separate = new WeakMap<IEnvironment, Environment>();

/**
 * Returns an environment of the same user with a store of its own, always the same one. A part of the console needs it that is live
 * beside a page and reads fewer fields of the same objects: lists of objects without ids, such as `Session.changes`, would lose the
 * fields that only the page reads.
 */
export function separateEnvironment(environment: IEnvironment): Environment {
  const known = separate.get(environment) ?? createEnvironment(environment.getNetwork());
  separate.set(environment, known);
  return known;
}

/** Makes this the environment of the page. An open socket belongs to the previous one. */
export function beginWith({ viewerContext }: ViewerEnvironment): void {
  setViewerContext(viewerContext);
  liveClient.terminate();
}
