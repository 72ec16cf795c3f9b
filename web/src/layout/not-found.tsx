import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { common } from '../texts/common.ts';
import { Page } from './page.tsx';

interface NotFoundProps {
  readonly title: string;
  readonly text: ReactNode;
  /** The page of the list to which the object would belong, and its title. */
  readonly path: string;
  readonly list: string;
}

/** The page of an object that does not exist, or that the viewer may not see, with a link to its list. */
export function NotFound({ title, text, path, list }: NotFoundProps) {
  return (
    <Page title={title}>
      <p className="soft">{text}</p>
      <p>
        <Link href={path}>{common.backTo({ name: list })}</Link>
      </p>
    </Page>
  );
}
