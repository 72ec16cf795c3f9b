import { Page } from '../layout/page.tsx';
import { common } from '../texts/common.ts';
import { inbox as texts } from '../texts/inbox.ts';
import { sessionsPage } from '../texts/sessions.ts';
import { Empty } from '../ui/states.tsx';
import { InboxEnvironment } from './inbox-environment.tsx';
import { InboxList } from './inbox-list.tsx';
import { useInboxOf } from './inbox-scope.ts';

/** `/inbox`: the inbox as a page, for windows that are too narrow for the list beside a session. */
export function InboxPage() {
  const inbox = useInboxOf();
  return (
    <Page title={texts.title}>
      {inbox ? (
        <InboxEnvironment>
          <InboxList inbox={inbox} isPage />
        </InboxEnvironment>
      ) : (
        <Empty title={common.noOrganization} text={sessionsPage.noOrganizationText} />
      )}
    </Page>
  );
}
