import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { activity_user$key } from '../../__generated__/activity_user.graphql.ts';
import type { activityDeactivateMutation } from '../../__generated__/activityDeactivateMutation.graphql.ts';
import type { activityReactivateMutation } from '../../__generated__/activityReactivateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { activity as texts } from '../../texts/users.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { ConfirmAction } from '../kit/kit.ts';

const userFragment = graphql`
  fragment activity_user on User {
    userId
    name
    email
    deactivatedAt
  }
`;

/** A label for a user that is deactivated, in lists. */
export function DeactivatedBadge({ at }: { readonly at: string | null | undefined }) {
  return at ? <Badge>{texts.deactivated}</Badge> : null;
}

/** A note on the page of a user that is deactivated. */
export function DeactivatedNote({ user: reference }: { readonly user: activity_user$key }) {
  const { deactivatedAt } = useFragment(userFragment, reference);
  if (!deactivatedAt) return null;
  return (
    <p role="status">
      <RichText text={texts.note} slots={{ time: <Time at={deactivatedAt} /> }} />
    </p>
  );
}

/** The button that deactivates or reactivates a user. */
export function ActivityButton({ user: reference }: { readonly user: activity_user$key }) {
  const { userId, name, email, deactivatedAt } = useFragment(userFragment, reference);
  const called = name ?? email;
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const [deactivate] = useMutation<activityDeactivateMutation>(graphql`
    mutation activityDeactivateMutation($input: DeactivateUserInput!) {
      deactivateUser(input: $input) {
        user {
          id
          deactivatedAt
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [reactivate, isReactivating] = useMutation<activityReactivateMutation>(graphql`
    mutation activityReactivateMutation($input: ReactivateUserInput!) {
      reactivateUser(input: $input) {
        user {
          id
          deactivatedAt
        }
        userErrors {
          message
        }
      }
    }
  `);
  const bringBack = async () => {
    const { errors } = await reactivate({ input: { userId } });
    if (errors === null) toasts.say(texts.reactivated({ name: called }));
  };
  if (deactivatedAt) {
    return (
      <Button isBusy={isReactivating} onClick={() => void bringBack()}>
        {texts.reactivate}
      </Button>
    );
  }
  return (
    <>
      <Button onClick={() => setAsking(true)}>{texts.deactivate}</Button>
      {isAsking && (
        <ConfirmAction
          title={texts.title({ name: called })}
          text={texts.text}
          confirmLabel={texts.deactivate}
          successMessage={texts.wasDeactivated({ name: called })}
          run={() => deactivate({ input: { userId } })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
