import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';

/** How soon the next page is asked for again, where that had no effect. */
const againMs = 1_000;

interface MoreProps {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/** The end of a list of pages: loads the next one when it comes near, and by its button. */
export function More({ hasMore, isLoading, onMore }: MoreProps) {
  const ref = useRef<HTMLDivElement>(null);
  const load = useRef(onMore);
  load.current = onMore;
  useEffect(() => {
    const end = ref.current;
    if (!end || !hasMore || isLoading) return;
    let timer = 0;
    const loadMore = () => {
      load.current();
      // Relay takes no such wish while it reads the list itself: it is said again then.
      timer = window.setTimeout(loadMore, againMs);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer);
        // Several may come at once: the last one is how it stands.
        if (entries.at(-1)?.isIntersecting) loadMore();
      },
      { rootMargin: '600px' },
    );
    observer.observe(end);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [hasMore, isLoading]);
  if (!hasMore) return null;
  return (
    <div className="more" ref={ref}>
      <Button isBusy={isLoading} onClick={onMore}>
        {isLoading ? 'Loading more' : 'Show more'}
      </Button>
    </div>
  );
}
