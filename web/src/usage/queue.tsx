import { useEffect, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { queueQuery } from '../__generated__/queueQuery.graphql.ts';
import { usageQueue as texts } from '../texts/usage.ts';
import { Badge } from '../ui/badge.tsx';

const everyMs = 10_000;
const tones = { NORMAL: 'good', ELEVATED: 'warn', HIGH: 'bad' } as const;

/** The number of the enterprise's sessions that currently wait for an agent; nothing if none does. */
export function Queue() {
  const [fetchKey, setFetchKey] = useState(0);
  useEffect(() => {
    const timer = window.setInterval(() => setFetchKey((before) => before + 1), everyMs);
    return () => clearInterval(timer);
  }, []);
  const { enterprise } = useLazyLoadQuery<queueQuery>(
    graphql`
      query queueQuery {
        enterprise {
          queue {
            size
            level
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  const queue = enterprise?.queue;
  if (!queue || (queue.size === 0 && queue.level === 'NORMAL')) return null;
  const tone = tones[queue.level as keyof typeof tones] ?? 'plain';
  return (
    <p role="status">
      <Badge tone={tone}>
        {texts.size({ count: queue.size, load: texts.loads[queue.level as keyof typeof texts.loads] ?? '' })}
      </Badge>
    </p>
  );
}
