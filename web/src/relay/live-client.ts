import { createClient } from 'graphql-ws';
import { look } from './look.ts';
import { pageSecret } from './page-secret.ts';
import { noteReached } from './reach.ts';
import { nowShown } from './who.ts';

/** The close code of a socket whose sign-in has ended, or is another's now. */
const forbidden = 4403;

/**
 * The one WebSocket, open while anything is subscribed to. It never subscribes again by itself: it would do so from where
 * the subscription began, and what came meanwhile would come twice.
 */
export const liveClient = createClient({
  url: () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
  connectionParams: () => {
    const { signIn } = nowShown();
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
      noteReached();
    },
    closed: (event) => {
      isConnected = false;
      if ((event as CloseEvent).code === forbidden) void look();
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
    const silence = liveClient.on('connected', () => {
      silence();
      resolve();
    });
  });
}

function awaitPong(): void {
  pongTimer = window.setTimeout(() => liveClient.terminate(), 5_000);
}
