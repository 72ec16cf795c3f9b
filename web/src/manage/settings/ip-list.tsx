import { type FormEvent, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { ipList_enterprise$key } from '../../__generated__/ipList_enterprise.graphql.ts';
import type { ipListReplaceMutation } from '../../__generated__/ipListReplaceMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { ipList as texts } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { errorOf, TextArea } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';

interface PendingList {
  readonly ipRanges: readonly string[];
  /** True to save a list that locks out the caller. */
  readonly force: boolean;
}

/** The addresses from which keys, and this console, may be used. */
export function IpList({ enterprise }: { readonly enterprise: ipList_enterprise$key }) {
  const { ipAccessList } = useFragment(
    graphql`
      fragment ipList_enterprise on Enterprise {
        id
        ipAccessList
      }
    `,
    enterprise,
  );
  const toasts = useToasts();
  const [pendingList, setPendingList] = useState<PendingList | null>(null);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [replace, isReplacing] = useMutation<ipListReplaceMutation>(
    graphql`
      mutation ipListReplaceMutation($input: ReplaceIpAccessListRangesInput!) {
        replaceIpAccessListRanges(input: $input) {
          enterprise {
            ...ipList_enterprise
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const save = async ({ ipRanges, force }: PendingList) => {
    const { errors: refused } = await replace({ input: { ipRanges, force } });
    setPendingList(null);
    setErrors(refused);
    if (refused === null) toasts.say(ipRanges.length === 0 ? texts.allAllowed : texts.ipAccessListSaved);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormFields(event.currentTarget);
    setPendingList({ ipRanges: fields.list('ipRanges'), force: fields.isOn('force') });
  };
  const ranges = ipAccessList ?? [];
  return (
    <form className="card sheet form" aria-labelledby="addresses" onSubmit={submit}>
      <header>
        <h2 id="addresses">{texts.ipAccessList}</h2>
        <p>{ranges.length === 0 ? texts.introAll : texts.introListed}</p>
      </header>
      <TextArea
        label={texts.ipAddressesAndRanges}
        name="ipRanges"
        rows={6}
        key={ranges.join()}
        defaultValue={ranges.join('\n')}
        spellCheck={false}
        placeholder={'203.0.113.7\n198.51.100.0/24'}
        hint={texts.ipRangesHint}
        error={errorOf(errors, 'ipRanges')}
      />
      <label className="check">
        <input type="checkbox" name="force" /> {texts.force}
      </label>
      <FormErrors errors={errors} fieldNames={['ipRanges']} />
      <div className="buttons">
        <Button type="submit" tone="primary">
          {texts.saveList}
        </Button>
      </div>
      {pendingList && (
        <Confirm
          title={pendingList.ipRanges.length === 0 ? texts.allowAllTitle : texts.allowListedTitle}
          text={
            pendingList.ipRanges.length === 0
              ? texts.allowAllText
              : texts.allowListedText({ addresses: pendingList.ipRanges.join(', ') })
          }
          confirmLabel={texts.saveList}
          isBusy={isReplacing}
          onClose={() => setPendingList(null)}
          onConfirm={() => void save(pendingList)}
        />
      )}
    </form>
  );
}
