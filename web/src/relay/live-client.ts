import { createClient } from 'graphql-ws';
import { checkConnection, markReachable } from './connectivity.ts';
import { pageSecret } from './page-secret.ts';
import { syncSession } from './session-sync.ts';
import { currentViewerContext } from './viewer.ts';

/** The close code of a socket whose sign-in has ended or was replaced. */
const forbidden = 4403;
/** The close code of a socket that ended without one. */
const abnormal = 1006;

/**
 * The one WebSocket, open while there are subscriptions. It never resubscribes by itself: it would start at the
 * original cursor and repeat events.
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
      const { code } = event as CloseEvent;
      if (code === forbidden) void syncSession();
      else if (code === abnormal) void checkConnection();
    },
    // Detects a dead network by keep-alive pings: a lost network closes no socket.
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

/** Returns true while the socket accepts subscriptions. */
export const isSocketOpen = (): boolean => isConnected;

/** Resolves as soon as the socket accepts subscriptions. */
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
  pongTimer = window.setTimeout(() => {
    liveClient.terminate();
    void checkConnection();
  }, 5_000);
}
