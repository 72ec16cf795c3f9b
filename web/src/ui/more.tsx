import { useEffect, useRef } from 'react';
import { more as texts } from '../texts/ui.ts';
import { Button } from './button.tsx';

/** The delay before the next page is requested again after a request without effect. */
const againMs = 1_000;

interface MoreProps {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/** The end of a paged list: loads the next page when it becomes visible, and by a button. */
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
      // Relay ignores the request while it refetches the list; it is repeated then.
      timer = window.setTimeout(loadMore, againMs);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer);
        // Several may arrive at once: the last one is current.
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
        {isLoading ? texts.loadingMore : texts.showMore}
      </Button>
    </div>
  );
}
