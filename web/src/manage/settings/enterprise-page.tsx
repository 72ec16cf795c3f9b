import { graphql, useLazyLoadQuery } from 'react-relay';
import type { enterprisePageQuery } from '../../__generated__/enterprisePageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { enterprisePage as texts } from '../../texts/settings.ts';
import { Empty } from '../../ui/states.tsx';
import '../kit/kit.ts';
import { IpList } from './ip-list.tsx';
import { Limits } from './limits.tsx';

/** `/manage/enterprise`: the IP access list and the usage limits of all organizations. */
export function EnterprisePage() {
  const { may } = useSigned();
  const seesSettings = may('MANAGE_ENTERPRISE_SETTINGS');
  const seesLimits = may('MANAGE_BILLING');
  const { enterprise } = useLazyLoadQuery<enterprisePageQuery>(
    graphql`
      query enterprisePageQuery($seesSettings: Boolean!, $seesLimits: Boolean!) {
        enterprise {
          ...ipList_enterprise @alias(as: "addresses") @include(if: $seesSettings)
          ...limits_enterprise @alias(as: "limits") @include(if: $seesLimits)
        }
      }
    `,
    { seesSettings, seesLimits },
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise || !(seesSettings || seesLimits)) {
    return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
  }
  return (
    <Page title={common.enterprise}>
      <div className="sheets">
        {enterprise.limits && <Limits enterprise={enterprise.limits} />}
        {enterprise.addresses && <IpList enterprise={enterprise.addresses} />}
      </div>
    </Page>
  );
}
