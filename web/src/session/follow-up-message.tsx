import { Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { followUpMessageQuery } from '../__generated__/followUpMessageQuery.graphql.ts';
import { followUpMessage as texts } from '../texts/session-pull-requests.ts';
import { visible } from '../ui/visible.ts';

interface FollowUpMessageProps {
  readonly followUpId: string;
  /** The follow-up in one line, for screen readers. */
  readonly named: string;
}

/** The message of a follow-up, which is loaded when the user opens it. */
export function FollowUpMessage({ followUpId, named }: FollowUpMessageProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={texts.messageOf({ named })}>{texts.message}</summary>
      {isOpen && (
        <Suspense fallback={<p className="soft">{texts.loading}</p>}>
          <Message id={followUpId} />
        </Suspense>
      )}
    </details>
  );
}

function Message({ id }: { readonly id: string }) {
  const { followUp } = useLazyLoadQuery<followUpMessageQuery>(
    graphql`
      query followUpMessageQuery($id: ID!) {
        followUp(id: $id) {
          messagePreview
        }
      }
    `,
    { id },
    { fetchPolicy: 'store-and-network' },
  );
  if (!followUp) return <p className="soft">{texts.noAccess}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll it.
    <pre className="code" tabIndex={0}>
      {visible(followUp.messagePreview)}
    </pre>
  );
}
