import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { forkedFrom_session$key } from '../__generated__/forkedFrom_session.graphql.ts';
import { pointOf } from '../pickers/use-checkpoint-choices.ts';
import { forkedFrom as texts } from '../texts/session-details.ts';
import { Icon } from '../ui/icons.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { sessionAddress } from './address.ts';
import { plainTitle } from './plain-title.ts';

/** A line with a link to the session that a fork was made of; null for a session that is no fork. */
export function ForkedFrom({ session }: { readonly session: forkedFrom_session$key }) {
  const { forkedFrom } = useFragment(
    graphql`
      fragment forkedFrom_session on Session @throwOnFieldError {
        forkedFrom {
          session {
            sessionId
            title
          }
          checkpoint {
            kind
            turn
          }
        }
      }
    `,
    session,
  );
  if (!forkedFrom) return null;
  const { session: origin, checkpoint } = forkedFrom;
  return (
    <p className="session-repositories">
      <span>
        <Icon name="pull" size={14} />{' '}
        <RichText
          text={checkpoint ? texts.fromCheckpoint : texts.from}
          slots={{
            session: origin ? (
              <Link href={sessionAddress(origin.sessionId)}>{plainTitle(origin.title)}</Link>
            ) : (
              texts.hiddenSession
            ),
            checkpoint: checkpoint && lowerFirst(pointOf(checkpoint)),
          }}
        />
      </span>
    </p>
  );
}

const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
