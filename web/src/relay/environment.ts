import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { liveClient } from './live-client.ts';
import { fetchFor, subscribeOperation, throwFieldErrors } from './network.ts';
import { beginShown, type Shown } from './who.ts';

/** Everything that a signed-in page knows, and whose it is. A new one for each sign-in: nothing of one person is shown to the next. */
export interface Known {
  readonly environment: Environment;
  readonly shown: Shown;
}

/** See {@link Known}. */
export function createKnown(): Known {
  const shown: Shown = { signIn: null, who: null, organizationId: null };
  const network = Network.create(fetchFor(shown), subscribeOperation);
  return {
    environment: new Environment({
      network,
      store: new Store(new RecordSource(), { gcReleaseBufferSize: 20 }),
      relayFieldLogger: throwFieldErrors,
    }),
    shown,
  };
}

/** From now on the page shows this. A socket that is open is the last one's. */
export function beginWith({ shown }: Known): void {
  beginShown(shown);
  liveClient.terminate();
}
