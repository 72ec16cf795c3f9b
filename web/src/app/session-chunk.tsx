import { useEffect, useState } from 'react';
import { common } from '../texts/common.ts';
import { Loading } from '../ui/states.tsx';
import { loadWithRetry } from './load-with-retry.ts';

type SessionModule = typeof import('../session/session-page.tsx');

let loaded: SessionModule | null = null;

/** Loads the chunk of the session page, also in advance. */
export async function loadSessionChunk(): Promise<SessionModule> {
  loaded ??= await import('../session/session-page.tsx');
  return loaded;
}

/**
 * The session page, or a placeholder until its chunk is loaded. It does not suspend, as `lazy` does: React would then show
 * the page no sooner than 300 ms after the placeholder.
 */
export function SessionChunk({ id }: { readonly id: string }) {
  const [, setLoaded] = useState(loaded !== null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    // Even if the code is loaded by now: it was not at the rendering, which showed the placeholder.
    loadWithRetry(loadSessionChunk).then(() => setLoaded(true), setError);
  }, []);
  if (error !== null) throw error;
  return loaded === null ? <Loading label={common.loadingPage} /> : <loaded.SessionPage id={id} />;
}
