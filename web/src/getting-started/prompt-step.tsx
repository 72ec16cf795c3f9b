import { type FormEvent, useRef, useState } from 'react';
import { FormErrors } from '../manage/kit/kit.ts';
import { common } from '../texts/common.ts';
import { promptStep as texts } from '../texts/getting-started.ts';
import { Button } from '../ui/button.tsx';
import { errorOf, Select, TextArea } from '../ui/field.tsx';
import { examples } from './examples.ts';
import { useFirstSession } from './use-first-session.ts';

interface PromptStepProps {
  readonly organizationId: string;
  /** The agents that can work. */
  readonly agents: readonly { readonly agentId: string; readonly name: string }[];
  /** The agent that is selected first. */
  readonly defaultAgentId: string | null;
}

/** The third step: the first prompt. */
export function PromptStep({ organizationId, agents, defaultAgentId }: PromptStepProps) {
  const [prompt, setPrompt] = useState(examples[0]?.prompt ?? '');
  const field = useRef<HTMLTextAreaElement>(null);
  const { start, errors, isBusy } = useFirstSession(organizationId);
  if (agents.length === 0) {
    return <p className="soft">{texts.needsOthers}</p>;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    void start({ prompt, agent: String(new FormData(event.currentTarget).get('agent')) });
  };
  return (
    <form className="form" onSubmit={submit}>
      <fieldset className="examples">
        <legend>{texts.examples}</legend>
        {examples.map((example) => (
          <button
            type="button"
            className="example"
            key={example.title}
            aria-pressed={prompt === example.prompt}
            onClick={() => setPrompt(example.prompt)}
          >
            <b>{example.title}</b>
            <span>{example.description}</span>
          </button>
        ))}
      </fieldset>
      <TextArea
        ref={field}
        label={common.prompt}
        name="prompt"
        rows={4}
        required
        value={prompt}
        onChange={({ target }) => setPrompt(target.value)}
        error={errorOf(errors, 'prompt')}
      />
      <div className="start-line">
        <Select
          label={common.agent}
          name="agent"
          defaultValue={defaultAgentId ?? undefined}
          error={errorOf(errors, 'agent')}
        >
          {agents.map(({ agentId, name }) => (
            <option value={agentId} key={agentId}>
              {name}
            </option>
          ))}
        </Select>
        <Button type="submit" tone="primary" icon="play" isBusy={isBusy}>
          {texts.startSession}
        </Button>
      </div>
      <FormErrors errors={errors} fieldNames={['prompt', 'agent']} />
    </form>
  );
}
