import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { tokenReminderQuery } from '../__generated__/tokenReminderQuery.graphql.ts';
import { isSignedInByLink } from '../sign-in/link.ts';
import { tokenReminder as texts } from '../texts/home.ts';
import { Icon } from '../ui/icons.tsx';
import { RichText } from '../ui/rich-text.tsx';

/** Reminds a user who was signed in by a link, and has no token, to create one. */
export function TokenReminder() {
  return isSignedInByLink() ? <Reminder /> : null;
}

function Reminder() {
  const { viewer } = useLazyLoadQuery<tokenReminderQuery>(
    graphql`
      query tokenReminderQuery {
        viewer {
          apiKeys(first: 1, filter: { status: ACTIVE }) {
            nodes {
              id
            }
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  if (viewer.apiKeys == null || viewer.apiKeys.nodes.length > 0) return null;
  return (
    <div className="banner quiet">
      <Icon name="key" />
      <span>
        <RichText text={texts.createToken} slots={{ link: (text) => <Link href="/manage/my-tokens">{text}</Link> }} />
      </span>
    </div>
  );
}
