import { Page } from '../layout/page.tsx';
import { Loading } from '../ui/states.tsx';

export function SessionsPage() {
  return (
    <Page title="Sessions">
      <Loading label="Loading sessions" />
    </Page>
  );
}
