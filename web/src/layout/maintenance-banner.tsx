import { useEffect, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { maintenanceBannerEndMutation } from '../__generated__/maintenanceBannerEndMutation.graphql.ts';
import type { maintenanceBannerQuery } from '../__generated__/maintenanceBannerQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { liveClient } from '../relay/live-client.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { usePolling } from '../relay/use-polling.ts';
import { maintenanceBanner as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmAction } from '../ui/confirm-action.tsx';
import { Icon } from '../ui/icons.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { Time } from '../ui/time.tsx';

const query = graphql`
  query maintenanceBannerQuery {
    maintenance {
      since
      reason
    }
  }
`;
const noVariables = {};

/** Interval between two reads while the mode is on, in milliseconds: another user, or the operator, may end it. */
const everyMs = 15_000;

/** Banner above every page while the service is in maintenance mode, with a button that ends it for users who may do so. */
export function MaintenanceBanner() {
  const { maintenance, may } = useSigned();
  const environment = useRelayEnvironment();
  const [isAsking, setAsking] = useState(false);
  const [end] = useMutation<maintenanceBannerEndMutation>(
    graphql`
      mutation maintenanceBannerEndMutation($input: EndMaintenanceInput!) {
        endMaintenance(input: $input) {
          isEnded
          userErrors {
            message
          }
        }
      }
    `,
    { updater: forget },
  );
  usePolling<maintenanceBannerQuery>({ query, variables: noVariables, everyMs: maintenance ? everyMs : null });
  // Maintenance mode starts with the service, which means a new connection.
  useEffect(
    () =>
      liveClient.on('connected', () => {
        fetchQuery<maintenanceBannerQuery>(environment, query, noVariables).subscribe({ error: () => undefined });
      }),
    [environment],
  );
  if (!maintenance) return null;
  const isCopy = maintenance.reason === 'COPIED_DATABASE';
  return (
    <>
      <section className="banner maintenance" aria-label={texts.label}>
        <Icon name="warning" />
        <div>
          {/* Without the time, which a screen reader would read again at each change. */}
          <p role="status">
            <RichText
              text={texts.notice}
              slots={{ b: (text) => <b>{text}</b>, reason: isCopy ? texts.copied : texts.configured }}
            />
          </p>
          <p>
            <RichText text={texts.started} slots={{ time: <Time at={maintenance.since} /> }} />
          </p>
        </div>
        {isCopy && may('MANAGE_ENTERPRISE_SETTINGS') && (
          <Button size="small" onClick={() => setAsking(true)}>
            {texts.end}
          </Button>
        )}
      </section>
      {isAsking && (
        <ConfirmAction
          title={texts.endTitle}
          text={texts.warning}
          confirmLabel={texts.end}
          successMessage={texts.ended}
          run={() => end({ input: {} })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Removes the banner at once: a process may need some seconds to notice that the mode has ended. */
function forget(store: RecordSourceSelectorProxy, data: maintenanceBannerEndMutation['response'] | null | undefined) {
  if (data?.endMaintenance?.isEnded) store.getRoot().setValue(null, 'maintenance');
}
