import { home as texts } from '../texts/home.ts';
import './home.css';
import { Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { maySetUp } from '../layout/navigation.ts';
import { useTitle } from '../layout/page.tsx';
import { Quiet } from '../layout/quiet.tsx';
import { NewSessionForm } from '../sessions/new-session-form.tsx';
import { useNewSession } from '../sessions/use-new-session.ts';
import { newSession } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { findDraft, saveDraft } from '../ui/drafts.ts';
import { useToasts } from '../ui/toasts.tsx';
import { Checklist } from './checklist.tsx';
import { RecentPrompts } from './recent-prompts.tsx';
import { TokenReminder } from './token-reminder.tsx';

/** The home page: the form for a new session, the user's recent prompts, and what is left to set up. */
export function HomePage({ organizationId }: { readonly organizationId: string }) {
  useTitle(texts.title);
  const signed = useSigned();
  const [, go] = useLocation();
  const toasts = useToasts();
  const draftName = `home:${organizationId}`;
  const [first] = useState(() => findDraft<string>(draftName) ?? '');
  const onStarted = (address: string) => {
    saveDraft(draftName, null);
    go(address);
  };
  const draft = useNewSession({ organizationId, repository: null, onStarted });
  const fill = (prompt: string) => {
    const field = draft.prompt.current;
    if (!field) return;
    const before = field.value;
    const set = (value: string) => {
      draft.setPrompt(value);
      field.focus();
    };
    set(prompt);
    if (before.trim() !== '' && before !== prompt) toasts.say(texts.replaced, () => set(before));
  };
  return (
    <div className="page home">
      <h1>{texts.heading}</h1>
      <Quiet>
        <Suspense fallback={null}>
          <TokenReminder />
        </Suspense>
      </Quiet>
      <div className="card home-composer">
        <NewSessionForm
          draft={draft}
          playbookId={null}
          prompt={first}
          onPrompt={(prompt) => saveDraft(draftName, prompt || null)}
          isShort
        >
          <Button type="submit" tone="primary" icon="send" isBusy={draft.isBusy} disabled={!draft.uploads.areSent}>
            {newSession.start}
          </Button>
        </NewSessionForm>
      </div>
      <div className="home-parts">
        {signed.may('VIEW_ORG_SESSIONS') && (
          <Quiet>
            <Suspense fallback={null}>
              <RecentPrompts organizationId={organizationId} onChoose={fill} />
            </Suspense>
          </Quiet>
        )}
        {maySetUp(signed) && (
          <Quiet>
            <Suspense fallback={null}>
              <Checklist organizationId={organizationId} onSession={() => draft.prompt.current?.focus()} />
            </Suspense>
          </Quiet>
        )}
      </div>
    </div>
  );
}
