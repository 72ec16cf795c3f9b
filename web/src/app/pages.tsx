import { lazy, Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { FirstPage } from '../getting-started/first-page.tsx';
import { mayOpen } from '../layout/page-access.ts';
import { Shell } from '../layout/shell.tsx';
import { pages as texts } from '../texts/app.ts';
import { common } from '../texts/common.ts';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { FocusOnNavigation } from './focus-on-navigation.tsx';
import { useSigned } from './gate.tsx';
import { loadWithRetry } from './load-with-retry.ts';
import { pageLoaders, sessionPath } from './page-loaders.ts';
import { SessionChunk } from './session-chunk.tsx';

/** Every page with its path, each loaded when first opened. The first match is shown. */
const pages = Object.entries(pageLoaders).map(
  ([path, load]) => [path, lazy(async () => ({ default: await loadWithRetry(load) }))] as const,
);

/** The page of the current path, inside the common frame. */
export function Pages() {
  const [location] = useLocation();
  const signed = useSigned();
  return (
    <Shell>
      <ErrorBoundary resetKey={location}>
        <Suspense fallback={<Loading label={common.loadingPage} />}>
          <Switch>
            {!mayOpen(location, signed) && (
              <Route>
                <Empty title={texts.noAccess} text={texts.noAccessText} />
              </Route>
            )}
            <Route path="/">
              <FirstPage />
            </Route>
            <Route path={sessionPath}>{({ id }) => <SessionChunk id={id} key={location} />}</Route>
            {pages.map(([path, Page]) => (
              <Route path={path} key={path}>
                {(params) => <Page {...params} key={location} />}
              </Route>
            ))}
            <Route>
              <OtherPath location={location} />
            </Route>
          </Switch>
          <FocusOnNavigation path={location} />
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** Guessed paths of pages whose paths are not their names under `/manage`. */
const otherNames = new Map([
  ['/home', '/'],
  ['/settings', '/manage/organization'],
]);

/** Leads from a guessed path, such as `/repositories`, to its page under `/manage`. */
function OtherPath({ location }: { readonly location: string }) {
  const name = location.replace(/(?<=.)\/$/, '');
  const known = otherNames.get(name);
  if (known !== undefined) return <Redirect to={known} replace />;
  const guessed = `/manage${name}`;
  if (Object.hasOwn(pageLoaders, guessed)) return <Redirect to={guessed} replace />;
  return (
    <Empty title={texts.pageNotFound} text={texts.pageNotFoundText}>
      <Link href="/sessions">{texts.viewAllSessions}</Link>
    </Empty>
  );
}
