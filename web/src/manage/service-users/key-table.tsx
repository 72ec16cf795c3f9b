import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { keyTable_keys$data, keyTable_keys$key } from '../../__generated__/keyTable_keys.graphql.ts';
import type { keyTableRevokeMutation } from '../../__generated__/keyTableRevokeMutation.graphql.ts';
import type { keyTableRotateMutation } from '../../__generated__/keyTableRotateMutation.graphql.ts';
import { useAct } from '../../relay/use-act.ts';
import { nameOf } from '../../ui/actor.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { actsColumn, ShownOnce } from '../kit/kit.ts';

type Key = keyTable_keys$data[number];

interface KeyTableProps {
  readonly keys: keyTable_keys$key;
  readonly onChanged: () => void;
}

/** Keys, each with what ends it. */
export function KeyTable({ keys, onChanged }: KeyTableProps) {
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
  const [asked, setAsked] = useState<{ readonly act: 'revoke' | 'rotate'; readonly key: Key } | null>(null);
  const [token, setToken] = useState<string | null>(null);
  const [revoke, isRevoking] = useAct<keyTableRevokeMutation>(graphql`
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
  const [rotate, isRotating] = useAct<keyTableRotateMutation>(graphql`
    mutation keyTableRotateMutation($input: RotateApiKeyInput!) {
      rotateApiKey(input: $input) {
        token
        userErrors {
          message
        }
      }
    }
  `);
  const run = async ({ act, key }: NonNullable<typeof asked>) => {
    const input = { apiKeyId: key.apiKeyId };
    if (act === 'revoke') {
      const { errors } = await revoke({ input });
      if (errors === null) toasts.say(`${key.name} is revoked.`);
    } else {
      const { payload } = await rotate({ input });
      if (payload?.token) setToken(payload.token);
    }
    setAsked(null);
    onChanged();
  };
  const columns: readonly Column<Key>[] = [
    {
      label: 'Key',
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
      label: 'Of',
      cell: ({ kind, owner }) => (kind === 'SERVICE' ? 'the organization' : (nameOf(owner) ?? 'somebody')),
    },
    { label: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never') },
    { label: 'Ends', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never') },
    actsColumn((key) => (
      <>
        <Button size="small" aria-label={`Rotate ${key.name}`} onClick={() => setAsked({ act: 'rotate', key })}>
          Rotate
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={`Revoke ${key.name}`}
          onClick={() => setAsked({ act: 'revoke', key })}
        >
          Revoke
        </Button>
      </>
    )),
  ];
  return (
    <>
      {rows.length === 0 ? (
        <p className="soft">No keys.</p>
      ) : (
        <Table label="Keys" columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      {asked && (
        <Confirm
          title={asked.act === 'revoke' ? `Revoke ${asked.key.name}?` : `Replace ${asked.key.name} by a new key?`}
          text="It ends at once: whatever uses it is refused from now on."
          act={asked.act === 'revoke' ? 'Revoke' : 'Replace'}
          isBusy={isRevoking || isRotating}
          onClose={() => setAsked(null)}
          onConfirm={() => void run(asked)}
        />
      )}
      {token && (
        <ShownOnce title="The new key" values={[{ label: 'Token', value: token }]} onClose={() => setToken(null)} />
      )}
    </>
  );
}
