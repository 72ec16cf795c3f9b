import { useId, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type {
  connectionList_connection$data,
  connectionList_connection$key,
} from '../../__generated__/connectionList_connection.graphql.ts';
import type { connectionListDeleteMutation } from '../../__generated__/connectionListDeleteMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';
import { accountLabel } from './ability-report.ts';
import { AppDialog } from './app-dialog.tsx';
import type { EditedConnection } from './connection-fields.tsx';
import { ConnectionForm, type SavedConnection } from './connection-form.tsx';
import { ConnectionState } from './connection-state.tsx';
import { forgeKindLabel, isForgeKind } from './forge-kinds.ts';
import { TestDialog } from './test-dialog.tsx';
import { WebhooksDialog } from './webhooks-dialog.tsx';

type Connection = connectionList_connection$data[number];

/** The connection that is tested. */
interface Tested {
  readonly id: string;
  readonly name: string;
  readonly repositoryPath: string | null;
}

interface ConnectionListProps {
  readonly connections: connectionList_connection$key;
  /** True if the viewer may connect forges. */
  readonly mayChange: boolean;
  /** Reads the list again. */
  readonly onChanged: () => void;
}

/** The git connections of the enterprise, with their accounts and last tests. */
export function ConnectionList({ connections: reference, mayChange, onChanged }: ConnectionListProps) {
  const connections = useFragment(
    graphql`
      fragment connectionList_connection on GitConnection @relay(plural: true) {
        id
        gitConnectionId
        providerType
        name
        host
        username
        appId
        installationId
        hasCredential
        lastReport {
          identity {
            login
            isBot
          }
        }
        webhookUrl
        ...connectionState_connection
        ...webhooksDialog_connection
      }
    `,
    reference,
  );
  const heading = useId();
  const toasts = useToasts();
  const [form, setForm] = useState<EditedConnection | 'new' | null>(null);
  const [isCreatingApp, setCreatingApp] = useState(false);
  const [tested, setTested] = useState<Tested | null>(null);
  const [webhooksOf, setWebhooksOf] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<Connection | null>(null);
  const [remove] = useMutation<connectionListDeleteMutation>(graphql`
    mutation connectionListDeleteMutation($input: DeleteGitConnectionInput!) {
      deleteGitConnection(input: $input) {
        deletedGitConnectionId
        userErrors {
          message
        }
      }
    }
  `);
  const finish = ({ gitConnectionId, name, isUntested, repositoryPath }: SavedConnection) => {
    toasts.say(form === 'new' ? `Connected ${name}.` : `Saved ${name}.`);
    setForm(null);
    onChanged();
    if (isUntested) setTested({ id: gitConnectionId, name, repositoryPath });
  };
  const columns: readonly Column<Connection>[] = [
    {
      label: 'Name',
      cell: ({ name, host, providerType }) => (
        <span className="git-name">
          <span className="row-link">{visible(name)}</span>
          <span className="under">{forgeKindLabel(providerType)}</span>
          {host !== name && <span className="under">{visible(host)}</span>}
        </span>
      ),
    },
    { label: 'Account', cell: (each) => accountOf(each) },
    { label: 'Last test', cell: (each) => <ConnectionState connection={each} /> },
    ...(mayChange
      ? [
          actionsColumn<Connection>((each) => (
            <>
              <Button
                size="small"
                aria-label={`Test ${each.name}`}
                onClick={() => setTested({ id: each.gitConnectionId, name: each.name, repositoryPath: null })}
              >
                Test
              </Button>
              {each.webhookUrl != null && (
                <Button
                  size="small"
                  aria-label={`Webhooks of ${each.name}`}
                  onClick={() => setWebhooksOf(each.gitConnectionId)}
                >
                  Webhooks
                </Button>
              )}
              {isForgeKind(each.providerType) && (
                <Button size="small" aria-label={`Edit ${each.name}`} onClick={() => setForm(each as EditedConnection)}>
                  Edit
                </Button>
              )}
              <Button size="small" tone="danger" aria-label={`Delete ${each.name}`} onClick={() => setLeaving(each)}>
                Delete
              </Button>
            </>
          )),
        ]
      : []),
  ];
  const hooked = connections.find((each) => each.gitConnectionId === webhooksOf);
  const kindOf = (id: string) => connections.find((each) => each.gitConnectionId === id)?.providerType;
  return (
    <section className="card sheet" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>Connections</h2>
        {mayChange && connections.length > 0 && (
          <div className="actions">
            <Button onClick={() => setCreatingApp(true)}>Create a GitHub App</Button>
            <Button icon="plus" onClick={() => setForm('new')}>
              Connect
            </Button>
          </div>
        )}
        <p>Accounts at forges. Agents never see their credentials: the service adds them to clones and pushes.</p>
      </header>
      {connections.length === 0 ? (
        <Empty
          title="No forge is connected"
          text={
            mayChange
              ? 'Connect GitHub, GitLab, Gitea, Forgejo or another git server. Sessions can then work on its repositories, and push to branches of their own.'
              : 'An administrator who may change the settings of the enterprise can connect one.'
          }
        >
          {mayChange && (
            <div className="actions">
              <Button tone="primary" onClick={() => setCreatingApp(true)}>
                Create a GitHub App
              </Button>
              <Button icon="plus" onClick={() => setForm('new')}>
                Connect
              </Button>
            </div>
          )}
        </Empty>
      ) : (
        <Table label="Git connections" columns={columns} rows={connections} keyOf={({ id }) => id} />
      )}
      {isCreatingApp && <AppDialog onClose={() => setCreatingApp(false)} />}
      {form !== null && (
        <ConnectionForm
          edited={form === 'new' ? null : form}
          connections={connections}
          onSaved={finish}
          onClose={() => setForm(null)}
        />
      )}
      {tested && form === null && (
        <TestDialog
          key={tested.id}
          gitConnectionId={tested.id}
          name={tested.name}
          repositoryPath={tested.repositoryPath}
          needsRepository={kindOf(tested.id) === 'GIT_HTTPS'}
          onTested={onChanged}
          onClose={() => setTested(null)}
        />
      )}
      {hooked && <WebhooksDialog connection={hooked} onChanged={onChanged} onClose={() => setWebhooksOf(null)} />}
      {leaving && (
        <ConfirmAction
          title={`Delete ${leaving.name}?`}
          text="Sessions, including those that run now, can no longer clone or push. The service erases the credential, and deletes the permissions of organizations for this connection. This cannot be undone."
          confirmLabel="Delete"
          successMessage={`Deleted ${leaving.name}.`}
          run={() => remove({ input: { gitConnectionId: leaving.gitConnectionId } })}
          onClose={() => setLeaving(null)}
          onDone={onChanged}
        />
      )}
    </section>
  );
}

function accountOf({ lastReport, username, hasCredential }: Connection): string {
  const identity = lastReport?.identity;
  if (identity != null) return accountLabel(identity);
  return username ?? (hasCredential ? 'Not known before a test' : 'None');
}
