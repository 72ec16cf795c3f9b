import { useCallback, useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { myTokensPageQuery } from '../../__generated__/myTokensPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { mayHaveTokens } from '../../layout/navigation.ts';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { myTokensPage as texts } from '../../texts/tokens.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { ShownOnce } from '../kit/kit.ts';
import { KeyForm } from '../service-users/key-form.tsx';
import { KeyTable } from '../service-users/key-table.tsx';

const query = graphql`
  query myTokensPageQuery {
    viewer {
      apiKeys(first: 100, filter: { status: ACTIVE }) @connection(key: "myTokensPage_apiKeys") {
        __id
        edges {
          node {
            id
            ...keyTable_keys
          }
        }
      }
    }
  }
`;

/** `/manage/my-tokens`: the tokens with which the signed-in user signs in and calls the APIs. */
export function MyTokensPage() {
  const signed = useSigned();
  const environment = useRelayEnvironment();
  const { viewer } = useLazyLoadQuery<myTokensPageQuery>(query, {}, { fetchPolicy: 'store-and-network' });
  const [isNew, setNew] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const reload = useCallback(
    () =>
      void fetchQuery(environment, query, {})
        .toPromise()
        .catch(() => undefined),
    [environment],
  );
  const keys = viewer.apiKeys;
  if (!keys || !mayHaveTokens(signed)) return <Empty title={texts.noTokens} text={texts.usersOnly} />;
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={common.myTokens} actions={create}>
      <p className="lead">{texts.intro}</p>
      <KeyTable called="token" keys={keys.edges.map(({ node }) => node)} onChanged={reload} />
      {isNew && (
        <KeyForm of={{ viewer: true }} connections={[keys.__id]} onClose={() => setNew(false)} onDone={setToken} />
      )}
      {token !== null && (
        <ShownOnce
          title={texts.newToken}
          values={[{ label: common.token, value: token }]}
          onClose={() => {
            setToken(null);
            reload();
          }}
        />
      )}
    </Page>
  );
}
