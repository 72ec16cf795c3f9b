import { createClient } from 'graphql-ws';
import { noteSignedOut } from './signed-out.ts';

/** Close codes after which trying again would be in vain: the sign-in has ended. */
const forbidden = 4403;

/**
 * The one WebSocket, open while anything is subscribed to. It never subscribes again by itself: it would do so from where
 * the subscription began, and what came meanwhile would come twice.
 */
export const liveClient = createClient({
  url: () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
  lazy: true,
  lazyCloseTimeout: 3_000,
  keepAlive: 10_000,
  retryAttempts: 0,
  on: {
    closed: (event) => {
      if ((event as CloseEvent).code === forbidden) noteSignedOut((event as CloseEvent).reason);
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

let pongTimer = 0;

function awaitPong(): void {
  pongTimer = window.setTimeout(() => liveClient.terminate(), 5_000);
}
