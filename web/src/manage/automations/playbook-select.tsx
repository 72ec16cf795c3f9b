import { graphql, useLazyLoadQuery } from 'react-relay';
import type { playbookSelectQuery } from '../../__generated__/playbookSelectQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Select } from '../../ui/field.tsx';

interface PlaybookSelectProps {
  /** The id in any form; empty: none. */
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (playbookId: string) => void;
}

/** Asks for a playbook; one that is not among those that are offered stays chosen, by its id. */
export function PlaybookSelect({ value, error, onChange }: PlaybookSelectProps) {
  const { organization } = useSigned();
  const { organization: found } = useLazyLoadQuery<playbookSelectQuery>(
    graphql`
      query playbookSelectQuery($id: ID!) {
        organization(id: $id) {
          playbooks(first: 100) {
            nodes {
              playbookId
              title
            }
          }
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
  );
  const playbooks = found?.playbooks.nodes ?? [];
  const isOther = value !== '' && !playbooks.some(({ playbookId }) => playbookId === value);
  return (
    <Select label="Playbook" value={value} error={error} onChange={({ target }) => onChange(target.value)}>
      <option value="">None</option>
      {isOther && <option value={value}>{value}</option>}
      {playbooks.map(({ playbookId, title }) => (
        <option value={playbookId} key={playbookId}>
          {title}
        </option>
      ))}
    </Select>
  );
}
