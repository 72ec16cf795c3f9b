import { withoutReplicas } from '../store/store.ts';
import type { Context } from './context.ts';

/** Returns a context that reads lists from the primary, for what follows a write: a replica would be late. */
export function onPrimary(context: Context): Context {
  const store = withoutReplicas(context.store);
  return store === context.store ? context : { ...context, store };
}
