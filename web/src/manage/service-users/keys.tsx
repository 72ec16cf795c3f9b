import { Suspense, useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import type { keys_organization$key } from '../../__generated__/keys_organization.graphql.ts';
import type { keysPaginationQuery } from '../../__generated__/keysPaginationQuery.graphql.ts';
import { common } from '../../texts/common.ts';
import { keys as texts } from '../../texts/service-users.ts';
import { Button } from '../../ui/button.tsx';
import { ShownOnce } from '../kit/kit.ts';
import { KeyForm } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';

interface KeysProps {
  readonly organization: keys_organization$key;
  readonly organizationId: string;
}

/** All keys of an organization: its own, those of its service users, and those of its people. */
export function Keys({ organization, organizationId }: KeysProps) {
  const { data, hasNext, isLoadingNext, loadNext, refetch } = usePaginationFragment<
    keysPaginationQuery,
    keys_organization$key
  >(
    graphql`
      fragment keys_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "keysPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        apiKeys(first: $count, after: $cursor) @connection(key: "keys_apiKeys") {
          __id
          edges {
            node {
              id
              ...keyTable_keys
            }
          }
        }
      }
    `,
    organization,
  );
  const [isNew, setNew] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const again = () => void refetch({}, { fetchPolicy: 'store-and-network' });
  return (
    <section className="card sheet" aria-labelledby="keys">
      <header>
        <h2 id="keys">{common.keys}</h2>
        <Button size="small" icon="plus" onClick={() => setNew(true)}>
          {texts.createOrganizationKey}
        </Button>
      </header>
      <KeyTable keys={data.apiKeys.edges.map(({ node }) => node)} onChanged={again} />
      {hasNext && (
        <Button isBusy={isLoadingNext} onClick={() => loadNext(50)}>
          {texts.showMore}
        </Button>
      )}
      <Suspense fallback={null}>
        {isNew && (
          <KeyForm
            of={{ organizationId }}
            connections={[data.apiKeys.__id]}
            onClose={() => setNew(false)}
            onDone={setToken}
          />
        )}
      </Suspense>
      {token && (
        <ShownOnce
          title={common.newKey}
          values={[{ label: common.token, value: token }]}
          onClose={() => setToken(null)}
        />
      )}
    </section>
  );
}
