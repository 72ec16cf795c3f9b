import { signInLinks as texts } from '../../texts/users.ts';
import { visible } from '../../ui/visible.ts';
import { ShownOnce } from '../kit/kit.ts';

interface NewSignInLinkProps {
  /** The name of the user. */
  readonly name: string;
  readonly url: string;
  readonly onClose: () => void;
}

/** Shows the address of a new sign-in link once. */
export function NewSignInLink({ name, url, onClose }: NewSignInLinkProps) {
  return (
    <ShownOnce
      title={texts.newLinkFor({ name: visible(name) })}
      text={texts.passOn}
      values={[{ label: texts.link, value: url }]}
      onClose={onClose}
    />
  );
}
