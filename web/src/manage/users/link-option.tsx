import { signInLinks as texts } from '../../texts/users.ts';

/** The choice to create a sign-in link together with a user. */
export function LinkOption() {
  return (
    <label className="check">
      <input type="checkbox" name="isWithLink" defaultChecked /> {texts.option}
    </label>
  );
}
