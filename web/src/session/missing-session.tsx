import { Link } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { missingSession as texts } from '../texts/session-share.ts';
import { Empty } from '../ui/states.tsx';

/** The page of a session that does not exist or that the viewer may not view. It must not tell which of the two. */
export function MissingSession() {
  const { name } = useSigned();
  return (
    <Empty title={texts.title} text={texts.text}>
      <p className="soft">{texts.signedInAs({ name })}</p>
      <Link href="/sessions">{texts.allSessions}</Link>
    </Empty>
  );
}
