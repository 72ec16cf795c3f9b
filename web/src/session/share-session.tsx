import { graphql, useFragment } from 'react-relay';
import type { shareSession_session$key } from '../__generated__/shareSession_session.graphql.ts';
import { shareSession as texts } from '../texts/session-share.ts';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { visible } from '../ui/visible.ts';
import { sessionAddress } from './address.ts';

/** Copies the link to a session, and says who can open it. */
export function ShareSession({ session }: { readonly session: shareSession_session$key }) {
  const { sessionId, isUnlisted, organization } = useFragment(
    graphql`
      fragment shareSession_session on Session {
        sessionId
        isUnlisted
        organization {
          name
        }
      }
    `,
    session,
  );
  const copy = useCopy();
  const names = { organization: visible(organization.name) };
  return (
    <section>
      <h2>{texts.title}</h2>
      <p className="hint">{isUnlisted ? texts.unlisted(names) : texts.listed(names)}</p>
      <div className="actions">
        <Button size="small" icon="link" onClick={() => void copy(`${location.origin}${sessionAddress(sessionId)}`)}>
          {texts.copyLink}
        </Button>
      </div>
    </section>
  );
}
