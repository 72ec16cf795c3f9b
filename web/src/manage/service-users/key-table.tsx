import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { keyTable_keys$data, keyTable_keys$key } from '../../__generated__/keyTable_keys.graphql.ts';
import type { keyTableRevokeMutation } from '../../__generated__/keyTableRevokeMutation.graphql.ts';
import type { keyTableRotateMutation } from '../../__generated__/keyTableRotateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { keyTable as texts } from '../../texts/service-users.ts';
import { nameOf } from '../../ui/actor.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ShownOnce } from '../kit/kit.ts';

type Key = keyTable_keys$data[number];

interface KeyTableProps {
  readonly keys: keyTable_keys$key;
  readonly onChanged: () => void;
  /** The word for a key on the page. */
  readonly called?: 'key' | 'token';
}

/** Keys, each with a button that revokes it. */
export function KeyTable({ keys, onChanged, called = 'key' }: KeyTableProps) {
  const words = texts.words[called];
  const rows = useFragment(
    graphql`
      fragment keyTable_keys on ApiKey @relay(plural: true) {
        id
        apiKeyId
        name
        kind
        display
        createdAt
        lastUsedAt
        expiresAt
        owner {
          displayName
        }
      }
    `,
    keys,
  );
  const toasts = useToasts();
  const [pendingAction, setPendingAction] = useState<{
    readonly action: 'revoke' | 'rotate';
    readonly key: Key;
  } | null>(null);
  const [token, setToken] = useState<string | null>(null);
  const [revoke, isRevoking] = useMutation<keyTableRevokeMutation>(graphql`
    mutation keyTableRevokeMutation($input: RevokeApiKeyInput!) {
      revokeApiKey(input: $input) {
        apiKey {
          id
          revokedAt
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [rotate, isRotating] = useMutation<keyTableRotateMutation>(graphql`
    mutation keyTableRotateMutation($input: RotateApiKeyInput!) {
      rotateApiKey(input: $input) {
        token
        userErrors {
          message
        }
      }
    }
  `);
  const run = async ({ action, key }: NonNullable<typeof pendingAction>) => {
    const input = { apiKeyId: key.apiKeyId };
    if (action === 'revoke') {
      const { errors } = await revoke({ input });
      if (errors === null) toasts.say(texts.revoked({ name: key.name }));
    } else {
      const { payload } = await rotate({ input });
      if (payload?.token) setToken(payload.token);
    }
    setPendingAction(null);
    onChanged();
  };
  const columns: readonly Column<Key>[] = [
    {
      label: words.one,
      cell: ({ name, display }) => (
        <div>
          {visible(name)}
          <span className="under">
            <code>{display}</code>
          </span>
        </div>
      ),
    },
    {
      label: texts.owner,
      cell: ({ kind, owner }) => (kind === 'SERVICE' ? common.organization : (nameOf(owner) ?? common.unknown)),
    },
    { label: texts.lastUsed, cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : common.never) },
    { label: common.expires, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : common.never) },
    actionsColumn((key) => (
      <>
        <Button
          size="small"
          aria-label={texts.rotateName({ name: key.name })}
          onClick={() => setPendingAction({ action: 'rotate', key })}
        >
          {common.rotate}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={texts.revokeName({ name: key.name })}
          onClick={() => setPendingAction({ action: 'revoke', key })}
        >
          {common.revoke}
        </Button>
      </>
    )),
  ];
  return (
    <>
      {rows.length === 0 ? (
        <p className="soft">{words.none}</p>
      ) : (
        <Table label={words.all} columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      {pendingAction && (
        <Confirm
          title={
            pendingAction.action === 'revoke'
              ? texts.revokeTitle({ name: pendingAction.key.name })
              : texts.rotateTitle({ name: pendingAction.key.name })
          }
          text={texts.stopsText[called]}
          confirmLabel={pendingAction.action === 'revoke' ? common.revoke : common.rotate}
          isBusy={isRevoking || isRotating}
          onClose={() => setPendingAction(null)}
          onConfirm={() => void run(pendingAction)}
        />
      )}
      {token && (
        <ShownOnce title={words.made} values={[{ label: common.token, value: token }]} onClose={() => setToken(null)} />
      )}
    </>
  );
}
