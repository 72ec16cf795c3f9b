import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';

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
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) load.current();
      },
      { rootMargin: '600px' },
    );
    observer.observe(end);
    return () => observer.disconnect();
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
