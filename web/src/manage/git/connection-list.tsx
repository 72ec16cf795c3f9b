import { useId, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type {
  connectionList_connection$data,
  connectionList_connection$key,
} from '../../__generated__/connectionList_connection.graphql.ts';
import type { connectionListDeleteMutation } from '../../__generated__/connectionListDeleteMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { connectionList as texts } from '../../texts/git.ts';
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
    toasts.say(form === 'new' ? texts.connected({ name }) : common.savedName({ name }));
    setForm(null);
    onChanged();
    if (isUntested) setTested({ id: gitConnectionId, name, repositoryPath });
  };
  const columns: readonly Column<Connection>[] = [
    {
      label: common.name,
      cell: ({ name, host, providerType }) => (
        <span className="git-name">
          <span className="row-link">{visible(name)}</span>
          <span className="under">{forgeKindLabel(providerType)}</span>
          {host !== name && <span className="under">{visible(host)}</span>}
        </span>
      ),
    },
    { label: texts.account, cell: (each) => accountOf(each) },
    { label: texts.lastTest, cell: (each) => <ConnectionState connection={each} /> },
    ...(mayChange
      ? [
          actionsColumn<Connection>((each) => (
            <>
              <Button
                size="small"
                aria-label={common.testName({ name: each.name })}
                onClick={() => setTested({ id: each.gitConnectionId, name: each.name, repositoryPath: null })}
              >
                {common.test}
              </Button>
              {each.webhookUrl != null && (
                <Button
                  size="small"
                  aria-label={texts.webhooksOf({ name: each.name })}
                  onClick={() => setWebhooksOf(each.gitConnectionId)}
                >
                  {common.webhooks}
                </Button>
              )}
              {isForgeKind(each.providerType) && (
                <Button
                  size="small"
                  aria-label={common.editName({ name: each.name })}
                  onClick={() => setForm(each as EditedConnection)}
                >
                  {common.edit}
                </Button>
              )}
              <Button
                size="small"
                tone="danger"
                aria-label={common.deleteName({ name: each.name })}
                onClick={() => setLeaving(each)}
              >
                {common.delete}
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
        <h2 id={heading}>{texts.connections}</h2>
        {mayChange && connections.length > 0 && (
          <div className="actions">
            <Button onClick={() => setCreatingApp(true)}>{texts.createApp}</Button>
            <Button icon="plus" onClick={() => setForm('new')}>
              {texts.connect}
            </Button>
          </div>
        )}
        <p>{texts.intro}</p>
      </header>
      {connections.length === 0 ? (
        <Empty title={texts.emptyTitle} text={mayChange ? texts.emptyText : texts.emptyTextForOthers}>
          {mayChange && (
            <div className="actions">
              <Button tone="primary" onClick={() => setCreatingApp(true)}>
                {texts.createApp}
              </Button>
              <Button icon="plus" onClick={() => setForm('new')}>
                {texts.connect}
              </Button>
            </div>
          )}
        </Empty>
      ) : (
        <Table label={texts.gitConnections} columns={columns} rows={connections} keyOf={({ id }) => id} />
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
          title={common.deleteNameTitle({ name: leaving.name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.name })}
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
  return username ?? (hasCredential ? '' : common.none);
}
