import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { signInLink_user$key } from '../../__generated__/signInLink_user.graphql.ts';
import type { signInLinkRevokeMutation } from '../../__generated__/signInLinkRevokeMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { signInLinks as texts } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { NewSignInLink } from './new-sign-in-link.tsx';
import { useSignInLink } from './use-sign-in-link.ts';

/** The link that signs a user in once: the pending one, and a button for a new one. */
export function SignInLinkSection({ user: reference }: { readonly user: signInLink_user$key }) {
  const user = useFragment(
    graphql`
      fragment signInLink_user on User {
        userId
        name
        email
        signInLink {
          createdAt
          expiresAt
        }
      }
    `,
    reference,
  );
  const { userId, signInLink: pending } = user;
  const toasts = useToasts();
  const [url, setUrl] = useState<string | null>(null);
  const [create, isCreating] = useSignInLink();
  const [revoke, isRevoking] = useMutation<signInLinkRevokeMutation>(graphql`
    mutation signInLinkRevokeMutation($input: RevokeSignInLinkInput!) {
      revokeSignInLink(input: $input) {
        user {
          id
          signInLink {
            createdAt
            expiresAt
          }
        }
        userErrors {
          message
        }
      }
    }
  `);
  const remove = async () => {
    if ((await revoke({ input: { userId } })).errors === null) toasts.say(texts.revoked);
  };
  return (
    <section className="card sheet" aria-labelledby="sign-in-link">
      <header>
        <h2 id="sign-in-link">{texts.title}</h2>
        <div className="buttons">
          {pending && (
            <Button tone="danger" isBusy={isRevoking} onClick={() => void remove()}>
              {common.revoke}
            </Button>
          )}
          <Button icon="link" isBusy={isCreating} onClick={() => void create(userId).then(setUrl)}>
            {texts.create}
          </Button>
        </div>
      </header>
      <p className="soft">
        {pending ? (
          <RichText text={texts.pending} slots={{ time: <Time at={pending.expiresAt} /> }} />
        ) : (
          texts.explanation
        )}
      </p>
      {url !== null && <NewSignInLink name={user.name ?? user.email} url={url} onClose={() => setUrl(null)} />}
    </section>
  );
}
