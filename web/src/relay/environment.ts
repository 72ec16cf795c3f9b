import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { liveClient } from './live-client.ts';
import { fetchFor, subscribeOperation, throwFieldErrors } from './network.ts';
import { setViewerContext, type ViewerContext } from './viewer.ts';

/** Everything that a signed-in page knows, and whose it is. A new one for each sign-in: nothing of one person is shown to the next. */
export interface ViewerEnvironment {
  readonly environment: Environment;
  readonly viewerContext: ViewerContext;
}

/** See {@link ViewerEnvironment}. */
export function createViewerEnvironment(): ViewerEnvironment {
  const viewerContext: ViewerContext = { signIn: null, viewerKey: null, organizationId: null };
  const network = Network.create(fetchFor(viewerContext), subscribeOperation);
  return {
    environment: new Environment({
      network,
      store: new Store(new RecordSource(), { gcReleaseBufferSize: 20 }),
      relayFieldLogger: throwFieldErrors,
    }),
    viewerContext,
  };
}

/** From now on the page shows this. A socket that is open is the last one's. */
export function beginWith({ viewerContext }: ViewerEnvironment): void {
  setViewerContext(viewerContext);
  liveClient.terminate();
}
