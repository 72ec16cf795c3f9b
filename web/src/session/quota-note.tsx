import { graphql, useFragment } from 'react-relay';
import type { quotaNote_session$key } from '../__generated__/quotaNote_session.graphql.ts';
import { quotaNote as texts } from '../texts/session-transcript.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { quotaEnd } from '../ui/status.ts';
import { useRetry } from './use-retry.ts';

interface QuotaNoteProps {
  readonly session: quotaNote_session$key;
  /** True if the viewer may continue the session. */
  readonly mayChange: boolean;
}

/** Line that says until when the session waits for its model's provider, with a button that continues it now. */
export function QuotaNote({ session: reference, mayChange }: QuotaNoteProps) {
  const { sessionId, ...status } = useFragment(
    graphql`
      fragment quotaNote_session on Session {
        sessionId
        statusDetail
        waitsUntil
      }
    `,
    reference,
  );
  const [retry, isBusy] = useRetry(sessionId);
  const end = quotaEnd(status);
  if (end === null) return null;
  return (
    <div className="banner">
      <Icon name="warning" />
      <span role="status">
        {end.isToday ? texts.continuesAt({ time: end.text }) : texts.continuesOn({ date: end.text })}
      </span>
      {mayChange && (
        <Button size="small" icon="play" isBusy={isBusy} onClick={() => retry(status.waitsUntil ?? '')}>
          {texts.continueNow}
        </Button>
      )}
    </div>
  );
}
