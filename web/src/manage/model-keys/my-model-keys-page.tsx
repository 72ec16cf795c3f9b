import { useCallback, useMemo } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { myModelKeysPageQuery } from '../../__generated__/myModelKeysPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { myModelKeysPage as texts } from '../../texts/model-keys.ts';
import { Empty } from '../../ui/states.tsx';
import { KeyList } from './key-list.tsx';
import { daysOf } from './period.ts';

const query = graphql`
  query myModelKeysPageQuery($from: Date!, $to: Date!) {
    viewer {
      providerKeys(first: 50) {
        nodes {
          ...keyList_key @arguments(from: $from, to: $to)
        }
      }
    }
  }
`;

/** `/manage/my-model-keys`: the model keys of the signed-in user. */
export function MyModelKeysPage() {
  const { viewer: signedIn, may } = useSigned();
  const environment = useRelayEnvironment();
  const variables = useMemo(() => daysOf('month'), []);
  const { viewer } = useLazyLoadQuery<myModelKeysPageQuery>(query, variables, { fetchPolicy: 'store-and-network' });
  const reload = useCallback(
    () =>
      void fetchQuery(environment, query, variables)
        .toPromise()
        .catch(() => undefined),
    [environment, variables],
  );
  const keys = viewer.providerKeys?.nodes;
  // A sign-in that is bound to an organization cannot use what belongs to the user in all of them.
  if (!keys || signedIn.user == null || signedIn.organization != null || !may('USE_SESSIONS')) {
    return <Empty title={texts.noModelKeys} text={texts.usersOnly} />;
  }
  return (
    <Page title={texts.myModelKeys}>
      <p className="lead">{texts.intro}</p>
      <KeyList
        title={texts.yourKeys}
        hint={texts.hint}
        emptyText={texts.empty}
        scope={{ viewer: true }}
        keys={keys}
        onChanged={reload}
      />
    </Page>
  );
}
