import { useEffect, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { maintenanceBannerEndMutation } from '../__generated__/maintenanceBannerEndMutation.graphql.ts';
import type { maintenanceBannerQuery } from '../__generated__/maintenanceBannerQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { liveClient } from '../relay/live-client.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { usePolling } from '../relay/use-polling.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmAction } from '../ui/confirm-action.tsx';
import { Icon } from '../ui/icons.tsx';
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

const reasons = {
  copied: 'This database is a copy, for example restored from a backup, and its original may still be in use.',
  configured:
    'The operator started the service with MAINTENANCE=true. To end it, restart the service without that variable.',
} as const;

const warning =
  'Sessions, automations and webhooks run again, in every process on this database. If the original database is still in use, ' +
  'both installations do the same work: waiting sessions and automations run twice, and webhooks are sent twice.';

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
      <section className="banner maintenance" aria-label="Maintenance mode">
        <Icon name="warning" />
        <div>
          {/* Without the time, which a screen reader would read again at each change. */}
          <p role="status">
            <b>Maintenance mode.</b> No session or automation runs, and no webhook is sent.{' '}
            {isCopy ? reasons.copied : reasons.configured}
          </p>
          <p>
            Started <Time at={maintenance.since} />
          </p>
        </div>
        {isCopy && may('MANAGE_ENTERPRISE_SETTINGS') && (
          <Button size="small" onClick={() => setAsking(true)}>
            End maintenance mode
          </Button>
        )}
      </section>
      {isAsking && (
        <ConfirmAction
          title="End maintenance mode?"
          text={warning}
          confirmLabel="End maintenance mode"
          successMessage="Maintenance mode has ended."
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
