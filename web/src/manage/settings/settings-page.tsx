import { graphql, useLazyLoadQuery } from 'react-relay';
import type { settingsPageQuery } from '../../__generated__/settingsPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { Empty } from '../../ui/states.tsx';
import '../kit/kit.ts';
import { OrganizationForm } from './organization-form.tsx';
import { Tags } from './tags.tsx';

/** `/manage/organization`: the organization's name, limits and tags. */
export function SettingsPage() {
  const { organization, may } = useSigned();
  const isAdmin = may('MANAGE_ENTERPRISE_SETTINGS');
  const found = useLazyLoadQuery<settingsPageQuery>(
    graphql`
      query settingsPageQuery($id: ID!, $isAdmin: Boolean!) {
        agents {
          agentId
          name
          providers
        }
        organization(id: $id) {
          ...organizationForm_organization
          ...tags_organization @alias(as: "tagged") @include(if: $isAdmin)
        }
      }
    `,
    { id: organization?.organizationId ?? '', isAdmin },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return (
    <Page title={common.organization}>
      <div className="sheets">
        <OrganizationForm organization={found.organization} agents={found.agents} />
        {found.organization.tagged && <Tags organization={found.organization.tagged} />}
      </div>
    </Page>
  );
}
