import { useEffect, useState } from 'react';
import { checkConnection, checkOffline, retryNow, useIsConnectionLost } from '../relay/connectivity.ts';
import { isSocketOpen } from '../relay/live-client.ts';
import { connectionBanner as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';

/** The interval in ms at which a page without an open socket asks if the service is up. A broken socket says so itself. */
const everyMs = 1_500;

/** Banner above every page while the service cannot be reached. */
export function ConnectionBanner() {
  const isLost = useIsConnectionLost();
  const [isRetrying, setRetrying] = useState(false);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible' && !isSocketOpen()) void checkConnection();
    };
    const timer = window.setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    // A browser that is online may still not reach the service.
    const check = () => void checkConnection();
    window.addEventListener('online', check);
    window.addEventListener('offline', checkOffline);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('online', check);
      window.removeEventListener('offline', checkOffline);
    };
  }, []);
  if (!isLost) return null;
  const retry = async () => {
    setRetrying(true);
    await retryNow();
    setRetrying(false);
  };
  return (
    <section className="banner connection" aria-label={texts.label}>
      <Icon name="warning" />
      <p role="status">{texts.lost}</p>
      <Button size="small" isBusy={isRetrying} onClick={() => void retry()}>
        {texts.retryNow}
      </Button>
    </section>
  );
}
