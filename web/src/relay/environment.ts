import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { fetchOperation, subscribeOperation } from './network.ts';

/** Everything that a signed-in page knows. A new one for each sign-in: nothing of one person is shown to the next. */
export function createEnvironment(): Environment {
  return new Environment({
    network: Network.create(fetchOperation, subscribeOperation),
    store: new Store(new RecordSource(), { gcReleaseBufferSize: 20 }),
  });
}
