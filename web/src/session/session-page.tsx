import { Page } from '../layout/page.tsx';

export function SessionPage({ id }: { readonly id: string }) {
  return <Page title={id}>…</Page>;
}
