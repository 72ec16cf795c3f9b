import { createClient } from 'graphql-ws';
import { markReachable } from './connectivity.ts';
import { pageSecret } from './page-secret.ts';
import { syncSession } from './session-sync.ts';
import { currentViewerContext } from './viewer.ts';

/** The close code of a socket whose sign-in has ended, or is another's now. */
const forbidden = 4403;

/**
 * The one WebSocket, open while anything is subscribed to. It never subscribes again by itself: it would do so from where
 * the subscription began, and what came meanwhile would come twice.
 */
export const liveClient = createClient({
  url: () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
  connectionParams: () => {
    const { signIn } = currentViewerContext();
    const secret = pageSecret();
    return { ...(secret === null ? {} : { pageSecret: secret }), ...(signIn === null ? {} : { signIn }) };
  },
  lazy: true,
  lazyCloseTimeout: 3_000,
  keepAlive: 10_000,
  retryAttempts: 0,
  on: {
    connected: () => {
      isConnected = true;
      markReachable();
    },
    closed: (event) => {
      isConnected = false;
      if ((event as CloseEvent).code === forbidden) void syncSession();
    },
    // Said by the client's keep-alive: a network that is gone closes nothing.
    ping: (isReceived) => {
      if (!isReceived) awaitPong();
    },
    pong: (isReceived) => {
      if (isReceived) clearTimeout(pongTimer);
    },
  },
});

let isConnected = false;
let pongTimer = 0;

/** Resolves as soon as the socket takes subscriptions: in a moment if it does. */
export function whenConnected(): Promise<void> {
  if (isConnected) return Promise.resolve();
  return new Promise((resolve) => {
    const unsubscribe = liveClient.on('connected', () => {
      unsubscribe();
      resolve();
    });
  });
}

function awaitPong(): void {
  pongTimer = window.setTimeout(() => liveClient.terminate(), 5_000);
}
